#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""fct_analysis.py [-s PERCENT] [-t 0|1] [-T NS] FILE - slowdown by flow size from a fct.txt.

Written from the description of the format: eight columns, source and destination address
in hexadecimal, source and destination port, bytes, start, flow completion time and
standalone time in ns.  Flows to port 100 are background (-t 0), to port 200 incast (-t 1);
those that end after -T are left out.  Flows in order of size fall into bins of PERCENT
of their number each; a line a bin: upper percentage, largest size, slowdown p50 p95 p99.
"""
import argparse
import sys

PORTS = {0: 100, 1: 200}


def read(path, port, limit):
    flows = []
    with open(path, encoding="ascii") as lines:
        for number, line in enumerate(lines, 1):
            fields = line.split()
            if len(fields) != 8:
                sys.exit(f"{path}:{number}: has {len(fields)} columns, not 8")
            for address in fields[:2]:
                if len(address) != 8 or int(address, 16) >> 24 != 11:
                    sys.exit(f"{path}:{number}: address {address} is not in 11.0.0.0/8")
            dport, size, start, fct, alone = (int(x) for x in fields[3:])
            if dport == port and start + fct < limit:
                if alone <= 0:
                    sys.exit(f"{path}:{number}: standalone time is {alone}")
                flows.append((size, max(1.0, fct / alone)))
    return sorted(flows)


def rank(values, share):
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-s", type=int, default=5)
    parser.add_argument("-t", type=int, default=0, choices=PORTS)
    parser.add_argument("-T", type=int, default=10**15)
    parser.add_argument("file")
    args = parser.parse_args()
    flows = read(args.file, PORTS[args.t], args.T)
    if not flows:
        sys.exit(f"{args.file}: no flows to port {PORTS[args.t]}")
    for percent in range(0, 100, args.s):
        first = len(flows) * percent // 100
        last = len(flows) * (percent + args.s) // 100
        bin_ = flows[first:last] or [flows[min(first, len(flows) - 1)]]
        slow = [s for _, s in bin_]
        print(f"{percent + args.s} {bin_[-1][0]} {rank(slow, 0.5):.3f} "
              f"{rank(slow, 0.95):.3f} {rank(slow, 0.99):.3f}")


if __name__ == "__main__":
    main()
