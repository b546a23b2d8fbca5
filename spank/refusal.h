/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_REFUSAL_H
#define MUSTER_SPANK_REFUSAL_H

#include "lib/constants/node_constants.h"

/* Called in the prolog of a refused job: leaves the line in the file "refused" beside the
 * certificate (lib/certificate/refused.h). Best effort, for no longer than REFUSED_DEADLINE_MS. */
void refusal_write_note(const char *certificate_path, const char *line);

#endif
