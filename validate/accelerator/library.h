/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ACCELERATOR_LIBRARY_H
#define MUSTER_ACCELERATOR_LIBRARY_H

#include <stdint.h>

#include "validate/accelerator/accelerator.h"

/* Inside of validate/accelerator: what the readers of the libraries share. All of it runs in the
 * child. The report lies in memory that the parent sees: what is filled in stays when the child
 * dies. */

struct accelerator_reader;

struct reading {
    const struct accelerator_reader *reader;
    struct accelerator_report *report;
    void *library;         /* of dlopen */
    const char **function; /* what is being called now, for the parent */
    int *device;           /* of which device; -1: none */
    void *handle;          /* the library's of the device that is read; or */
    uint32_t index;        /* its number, where the library has no handles */
};

/* Every library's functions return 0 for success, or a code of their own. */
enum { READING_NO_FUNCTION = -1000 }; /* in place of a code: the library lacks the function */

/* Ends the reading with that outcome. Returns -1. */
int reading_end(struct reading *reading, enum accelerator_outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The function, noted as the one that is being called; NULL where the library lacks it. */
void *reading_function(struct reading *reading, const char *name);

/* Calls the function of that name and types with these arguments. READING_NO_FUNCTION where the
 * library lacks it. */
#define READING_CALL(reading, name, types, ...)                                                    \
    ({                                                                                             \
        int(*call_) types = reading_function(reading, name);                                       \
        call_ ? call_(__VA_ARGS__) : READING_NO_FUNCTION;                                          \
    })

/* Calls a function of one device: f(handle, a), or f(index, a) where the library has no handles.
 * The types are those of the arguments after the device. */
#define READING_CALL1(reading, f, T1, a1)                                                          \
    ((reading)->reader->is_indexed ? ((int (*)(uint32_t, T1))(f))((reading)->index, a1)            \
                                   : ((int (*)(void *, T1))(f))((reading)->handle, a1))
#define READING_CALL2(reading, f, T1, T2, a1, a2)                                                  \
    ((reading)->reader->is_indexed ? ((int (*)(uint32_t, T1, T2))(f))((reading)->index, a1, a2)    \
                                   : ((int (*)(void *, T1, T2))(f))((reading)->handle, a1, a2))
#define READING_CALL3(reading, f, T1, T2, T3, a1, a2, a3)                                          \
    ((reading)->reader->is_indexed                                                                 \
         ? ((int (*)(uint32_t, T1, T2, T3))(f))((reading)->index, a1, a2, a3)                      \
         : ((int (*)(void *, T1, T2, T3))(f))((reading)->handle, a1, a2, a3))

/* Fills what the function returns through its last argument: f(device, answer). Returns the
 * library's code, or READING_NO_FUNCTION. */
int reading_query(struct reading *reading, const char *function, void *answer);

/* The text of f(device, text, length) into text of INVENTORY_NAME bytes; leaves it without one. */
void reading_text(struct reading *reading, const char *function, char *text);

/* As reading_text(), of a function without a device. */
void reading_system_text(struct reading *reading, const char *function, char *text);

/* As PCI addresses are written by the kernel: "0000:1a:00.0". */
void reading_pci(struct accelerator *device, unsigned domain, unsigned bus, unsigned slot,
                 unsigned function);
void reading_pci_text(struct accelerator *device, const char *text); /* "00000000:1A:00.0" */

/* Notes the number, or what the code says in its place. A device that is lost says so at any call.
 */
void reading_take(struct reading *reading, struct accelerator *device, enum accelerator_value_id id,
                  int result, long long number);

void value_set(struct accelerator *device, enum accelerator_value_id id, long long number);
void value_fail(struct accelerator *device, enum accelerator_value_id id,
                enum accelerator_answer answer, int error);

/* What a code of the library means; one that has no row is an error. */
struct reading_status {
    int code;
    enum accelerator_answer answer;
    enum accelerator_state state; /* of the device that says so */
};

/* The arguments of a function that tells one number, after the device. */
enum reading_form {
    FORM_U32,       /* (uint32_t *) */
    FORM_U64,       /* (uint64_t *) */
    FORM_TYPE_U32,  /* (type, uint32_t *) */
    FORM_TYPE_U64,  /* (type, uint64_t *) */
    FORM_TYPES_U64, /* (type, type, uint64_t *) */
};

/* One number of a device that one call tells. A later row of the same number is asked where the
 * library lacks the function of the earlier one. */
struct reading_number {
    enum accelerator_value_id id;
    const char *function;
    enum reading_form form;
    uint32_t types[2];
    long long divisor; /* of what the library tells; 0: none */
};

typedef void reading_part_fn(struct reading *reading, struct accelerator *device);

/* One library. Lists end with a row of zeros. */
struct accelerator_reader {
    enum gpu_vendor vendor;
    const char *libraries[8]; /* file names, the preferred one first */
    struct accelerator_traits traits;
    const struct reading_status *statuses;
    bool is_indexed; /* its functions take the device's number, not a handle */

    /* Initializes the library and tells its version and the driver's. Returns 0, or -1 after
     * reading_end(); OUTCOME_NO_LIBRARY: another library of the vendor may do. */
    int (*start)(struct reading *reading);
    /* The devices. Returns the library's code. */
    int (*count)(struct reading *reading, unsigned *count);
    const char *count_function; /* in its stead: f(count) */
    /* Makes handle that of a device; NULL: it has the index. Returns the library's code. */
    int (*open)(struct reading *reading, unsigned index);
    const char *open_function; /* in its stead: f(index, handle) */
    reading_part_fn *identify; /* PCI address, model, serial number ... */
    const struct reading_number *numbers;
    reading_part_fn *const *parts;           /* what takes more than one number, in this order */
    void (*finish)(struct reading *reading); /* after all devices; NULL: nothing */
};

/* Reads all devices. Returns 0, or -1 after reading_end(). */
int reading_run(struct reading *reading);

extern const struct accelerator_reader accelerator_nvml, accelerator_amdsmi, accelerator_rsmi,
    accelerator_hlml;

#endif
