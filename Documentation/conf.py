# SPDX-License-Identifier: GPL-2.0
"""How sphinx builds these pages; see Makefile."""
import logging

project = "beeunwind"
root_doc = "index"
html_theme = "alabaster"
html_copy_source = False
html_show_copyright = False
highlight_language = "none"
c_id_attributes = ["__maybe_unused", "__percpu"]


class SharedNames(logging.Filter):
    """In C a struct and a function may have the same name; sphinx 5 takes that for an error."""

    def filter(self, record):
        return "Duplicate C declaration" not in str(record.msg)


logging.getLogger("sphinx.sphinx.domains.c").addFilter(SharedNames())
