/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SVG_SCRIPT_H
#define SVG_SCRIPT_H

extern const char svg_script[];

#endif /* SVG_SCRIPT_H */
