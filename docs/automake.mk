# SPDX-License-Identifier: GPL-3.0-or-later

dist_doc_DATA = \
	docs/nccl.md \
	$(NULL)
