# SPDX-License-Identifier: GPL-3.0-or-later

nobase_dist_pkgdata_DATA += \
	scenarios/quickstart.json \
	$(NULL)
