/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ACCELERATOR_LIBRARY_H
#define MUSTER_ACCELERATOR_LIBRARY_H

#include <stdint.h>

#include "validate/accelerator/accelerator.h"

/* Internals of validate/accelerator, shared by the readers of the libraries. All of it runs in the
 * child. The report is in memory shared with the parent: what is filled in remains if the child
 * dies. */

struct accelerator_reader;

struct reading {
    const struct accelerator_reader *reader;
    struct accelerator_report *report;
    void *library;         /* of dlopen */
    const char **function; /* the function being called, for the parent */
    int *device;           /* the device of the call; -1: none */
    void *handle;          /* the library's handle of the current device; or */
    uint32_t index;        /* its index, if the library has no handles */
};

/* The functions of every library return 0 for success, or an error code. */
enum { READING_NO_FUNCTION = -1000 }; /* instead of a code: the library lacks the function */

/* Ends the reading with the outcome. Returns -1. */
int reading_end(struct reading *reading, enum accelerator_outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns the function, and notes it as the one being called; NULL if the library lacks it. */
void *reading_function(struct reading *reading, const char *name);

/* Calls the function of the name and types with the arguments. Returns READING_NO_FUNCTION if the
 * library lacks it. */
#define READING_CALL(reading, name, types, ...)                                                    \
    ({                                                                                             \
        int(*call_) types = reading_function(reading, name);                                       \
        call_ ? call_(__VA_ARGS__) : READING_NO_FUNCTION;                                          \
    })

/* Calls a function of one device: f(handle, ...), or f(index, ...) if the library has no handles.
 * The types, in parentheses, are those of the arguments after the device. */
#define READING_TYPES(...) __VA_ARGS__
#define READING_CALL_DEVICE(reading, f, types, ...)                                                \
    ((reading)->reader->is_indexed                                                                 \
         ? ((int (*)(uint32_t, READING_TYPES types))(f))((reading)->index, __VA_ARGS__)            \
         : ((int (*)(void *, READING_TYPES types))(f))((reading)->handle, __VA_ARGS__))

/* Calls f(device, answer), a function that fills its last argument. Returns the library's code, or
 * READING_NO_FUNCTION. */
int reading_query(struct reading *reading, const char *function, void *answer);

/* Sets text, of INVENTORY_NAME bytes, by f(device, text, length); unchanged if that fails. */
void reading_text(struct reading *reading, const char *function, char *text);

/* As reading_text(), of a function without a device. */
void reading_system_text(struct reading *reading, const char *function, char *text);

/* Set the device's PCI address as the kernel writes it: "0000:1a:00.0". */
void reading_pci(struct accelerator *device, unsigned domain, unsigned bus, unsigned slot,
                 unsigned function);
void reading_pci_text(struct accelerator *device, const char *text); /* "00000000:1A:00.0" */

/* Stores the number, or the meaning of the code instead. Any call may return that the device is
 * lost. */
void reading_take(struct reading *reading, struct accelerator *device, enum accelerator_value_id id,
                  int result, long long number);

void value_set(struct accelerator *device, enum accelerator_value_id id, long long number);
void value_fail(struct accelerator *device, enum accelerator_value_id id,
                enum accelerator_answer answer, int error);

/* The meaning of a code of the library; a code without a row is an error. */
struct reading_status {
    int code;
    enum accelerator_answer answer;
    enum accelerator_state state; /* of the device whose call returned it */
};

/* The arguments, after the device, of a function that returns one number. */
enum reading_form {
    FORM_U32,       /* (uint32_t *) */
    FORM_U64,       /* (uint64_t *) */
    FORM_TYPE_U32,  /* (type, uint32_t *) */
    FORM_TYPE_U64,  /* (type, uint64_t *) */
    FORM_TYPES_U64, /* (type, type, uint64_t *) */
};

/* A number of a device that one call returns. A later row of the same number is used if the library
 * lacks the function of the earlier one. */
struct reading_number {
    enum accelerator_value_id id;
    const char *function;
    enum reading_form form;
    uint32_t type, second_type; /* arguments of the form */
    long long divisor;          /* of the library's number; 0: none */
};

typedef void reading_part_fn(struct reading *reading, struct accelerator *device);

/* One library. Lists end with a row of zeros. */
struct accelerator_reader {
    enum gpu_vendor vendor;
    const char *libraries[8]; /* file names, the preferred one first */
    struct accelerator_traits traits;
    const struct reading_status *statuses;
    bool is_indexed; /* its functions take the device's number, not a handle */

    /* Initializes the library, and stores its version and the driver's. Returns 0, or -1 after
     * reading_end(); with OUTCOME_NO_LIBRARY another library of the vendor is tried. */
    int (*start)(struct reading *reading);
    /* Counts the devices. Returns the library's code. */
    int (*count)(struct reading *reading, unsigned *count);
    const char *count_function; /* instead of count: f(count) */
    /* Sets handle to that of a device; NULL: the index is enough. Returns the library's code. */
    int (*open)(struct reading *reading, unsigned index);
    const char *open_function; /* instead of open: f(index, handle) */
    reading_part_fn *identify; /* PCI address, model, serial number ... */
    const struct reading_number *numbers;
    reading_part_fn *const *parts;           /* values of more than one number, in this order */
    void (*finish)(struct reading *reading); /* after all devices; NULL: nothing */
};

/* Reads all devices. Returns 0, or -1 after reading_end(). */
int reading_run(struct reading *reading);

extern const struct accelerator_reader accelerator_nvml, accelerator_amdsmi, accelerator_rsmi,
    accelerator_hlml;

#endif
