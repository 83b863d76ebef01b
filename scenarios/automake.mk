# SPDX-License-Identifier: GPL-3.0-or-later

nobase_dist_pkgdata_DATA += \
	scenarios/papers/dcqcn-10-to-1.json \
	scenarios/papers/dcqcn-2-to-1.json \
	scenarios/papers/dcqcn-convergence.json \
	scenarios/papers/ecmp-16-qps.json \
	scenarios/papers/ecmp-collisions.json \
	scenarios/papers/ecmp-polarisation-cured.json \
	scenarios/papers/ecmp-polarisation.json \
	scenarios/papers/incast-dcqcn-only.json \
	scenarios/papers/incast-neither.json \
	scenarios/papers/incast-pfc-and-dcqcn.json \
	scenarios/papers/incast-pfc-only.json \
	scenarios/papers/pfc-parking-lot.json \
	scenarios/papers/pfc-victim-dcqcn.json \
	scenarios/papers/pfc-victim.json \
	scenarios/practice/sc03-bytes-25g-n8.json \
	scenarios/practice/sc03-bytes-400g-n8.json \
	scenarios/practice/sc03-bytes-mtu1024-n8.json \
	scenarios/practice/sc03-bytes-n16.json \
	scenarios/practice/sc03-bytes-n2.json \
	scenarios/practice/sc03-bytes-n8.json \
	scenarios/practice/sc03-packets-n8.json \
	scenarios/practice/sc03-pmax1-n8.json \
	scenarios/practice/sc03-sane-100-400.json \
	scenarios/practice/sc03-sane-150-1500.json \
	scenarios/practice/sc03-sane-40-160.json \
	scenarios/practice/sc03-waiting-n8.json \
	scenarios/practice/sc05-gbn-100g-10us.json \
	scenarios/practice/sc05-gbn-100g-20us.json \
	scenarios/practice/sc05-gbn-400g-10us.json \
	scenarios/practice/sc05-gbn-400g-20us.json \
	scenarios/practice/sc08-need-100g-40m.json \
	scenarios/practice/sc08-need-400g-300m.json \
	scenarios/practice/sc08-none-100g-40m.json \
	scenarios/practice/sc10-a-right.json \
	scenarios/practice/sc10-b-nic-on-5.json \
	scenarios/practice/sc10-c-tos-unset.json \
	scenarios/practice/sc10-e-ecn-elsewhere.json \
	scenarios/practice/sc18-16mb-lossy.json \
	scenarios/practice/sc18-2mb-lossless.json \
	scenarios/practice/sc18-4mb-alpha-8th.json \
	scenarios/practice/sc18-4mb-lossy.json \
	scenarios/practice/sc18-64mb.json \
	scenarios/practice/sc18-8mb-lossless.json \
	scenarios/quickstart.json \
	$(NULL)
