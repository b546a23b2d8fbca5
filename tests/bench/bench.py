# SPDX-License-Identifier: Apache-2.0
"""Common parts of the benchmarks: labs, statistics, output."""

import argparse
import array
import glob
import json
import math
import os
import random
import re
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile

top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
build = os.environ.get("BUILD", os.path.join(top, ".lab/build"))
prefix = os.path.join(top, ".lab/prefix")
plugin = os.path.join(prefix, "lib/slurm/spank_muster.so")
muster = os.path.join(prefix, "bin/muster")


def fail(text):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {text}")


def arguments(description, add=None):
    """Parses --json FILE and the options that add(parser) adds. Exits unless root runs it after an
    installation."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", help="write the figures there as well")
    if add:
        add(parser)
    found = parser.parse_args()
    if os.geteuid() != 0:
        fail("the lab needs root")
    # SIGTERM takes labs down, as Ctrl-C does
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    for path in (plugin, muster):
        if not os.path.exists(path):
            fail(f"no {path}: build and install first (./quickstart)")
    return found


def run(*command, check=True, **options):
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, **options)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: status {done.returncode}: "
                           f"{(done.stderr or done.stdout).strip()[-400:]}")
    return done.stdout


def program(name):
    """The path of a program of this folder, after make has built it."""
    run("make", "-s", "-C", build, f"tests/bench/{name}")
    return os.path.join(build, "tests/bench", name)


def narrowed(values, kind):
    """The bytes of an array of floats as bf16, rounded to nearest, or as fp16: multiplied by 65536,
    and limited to the range of fp16."""
    if kind == "bf16":
        bits = array.array("I", values.tobytes())
        return array.array("H", [(b + 0x7fff + (b >> 16 & 1)) >> 16 for b in bits]).tobytes()
    return struct.pack(f"={len(values)}e", *[max(-65504.0, min(65504.0, 65536 * v)) for v in values])


def trained_gradients(kind):
    """The path of a file with muster-train's gradient, as bf16, fp16 or fp32: after 30 steps of a
    transformer of 6 million parameters on the bytes of this project's sources. Makes the file if
    there is none."""
    path = os.path.join(build, f"tests/bench/trained.{kind}")
    if os.path.exists(path):
        return path
    train = os.path.join(build, "muster-train")
    with tempfile.TemporaryDirectory() as directory:
        text, tokens, checkpoint = (os.path.join(directory, name) for name in ("text", "tokens", "c"))
        with open(text, "wb") as all_of_it:
            for name in sorted(glob.glob(os.path.join(top, "**/*.[ch]"), recursive=True)):
                with open(name, "rb") as file:
                    all_of_it.write(file.read())
        run(train, "tokenize", text, tokens)
        # with --beta1=0 the first moments of AdamW are the gradient
        run(train, f"--data={tokens}", "--vocab=256", "--layers=6", "--heads=8", "--channels=288",
            "--context=128", "--batch=8", "--steps=30", "--beta1=0", f"--checkpoint={checkpoint}",
            env={**os.environ, **open_mpi})
        shard, = glob.glob(os.path.join(checkpoint, "step-*", "shard-*"))
        with open(shard, "rb") as file:
            state = file.read()
    third = len(state) // 3
    gradients = array.array("f", state[third:2 * third])
    with open(path + ".new", "wb") as file:
        file.write(gradients.tobytes() if kind == "fp32" else narrowed(gradients, kind))
    os.replace(path + ".new", path)
    return path


# environment of mpirun for ranks on this machine, which may be more than its processors
open_mpi = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "MUSTER_ALLOW_ROOT": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_pml": "ob1"}


class Lab:
    """A lab with or without the plugin, for a `with` statement, which takes it down at its end."""

    def __init__(self, name, nodes=2, with_plugin=True, rail_mbps=None):
        self.rails = ["--rail-mbps", rail_mbps] if rail_mbps else []
        self.name, self.nodes, self.with_plugin = f"bench-{name}-{os.getpid()}", nodes, with_plugin
        self.directory = os.path.join(top, ".lab", self.name)

    def lab(self, *command, **options):
        return run(os.path.join(top, "tests/lab/lab"), "-L", self.name, *command, **options)

    def __enter__(self):
        try:
            more = ["--plugin", plugin, "--plugin-required"] if self.with_plugin else ["--plugin", "none"]
            self.lab("up", "-n", self.nodes, *self.rails, *more)
            if self.with_plugin:
                for node in ["head"] + [f"n{i + 1}" for i in range(self.nodes)]:
                    self.plugstack(node)
            for i in range(self.nodes if self.with_plugin else 0):
                self.certify(f"n{i + 1}")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        run(os.path.join(top, "tests/lab/lab"), "-L", self.name, "down", check=False)

    def plugstack(self, node):
        self.write(node, "etc/slurm/plugstack.conf",
                   f"required {plugin} config=/etc/muster/muster.conf\n")

    def write(self, node, path, text):
        with open(os.path.join(self.directory, node, path), "w") as file:
            file.write(text)

    def certify(self, node):
        """Issues a valid certificate, and sets policies that refuse jobs without one."""
        conf = os.path.join(self.directory, node, "etc/muster/muster.conf")
        with open(conf, "a") as file:
            file.write("CertificateFile=/var/lib/muster/certificate\n"
                       "OnMissing=refuse\nOnExpired=refuse\nOnChanged=refuse\n"
                       "GateBrake=off\n")
        work = os.path.join(self.directory, "work")
        os.makedirs(work, exist_ok=True)
        shutil.copy(muster, work)
        expires = int(run("date", "+%s")) + 3600
        self.lab("on", node, "env", "MUSTER_CONF=/etc/muster/muster.conf", f"{work}/muster",
                 "certificate", "issue", "--node", node,
                 input=f"run: bench\ncluster: {self.name}\nlevel: standard\nexpires: {expires}\n"
                       f"node: {node}\n")

    def as_user(self, *command):
        return self.lab("run", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                        *command)


def train(lab, words, tokens, ranks, before="", is_one_node=False):
    """Runs muster-train with a rank of one thread on each of as many nodes of a lab, or with all ranks
    on one node. Returns the seconds of each step but the first (of `tokens` tokens), the losses, and
    all records. MPI uses the first rail whatever the plugin would choose, or shared memory. before:
    shell commands to run first on each node."""
    ways = "self,vader" if is_one_node else "self,tcp OMPI_MCA_btl_tcp_if_include=eth1"
    out = lab.lab("run", "srun", f"-N{1 if is_one_node else ranks}", f"-n{ranks}", "--mpi=pmix",
                  "--cpu-bind=none", "sh",
                  "-c", f"{before} exec env OMPI_MCA_pml=ob1 OMPI_MCA_btl={ways} OMP_NUM_THREADS=1 muster-train --json {words}",
                  timeout=600)
    records = [json.loads(line) for line in out.splitlines() if line.startswith("{")]

    def values(metric):
        return [record["value"] for record in records if record["metric"] == metric]

    return [tokens / value for value in values("throughput")][1:], values("loss"), records


def percentile(values, share):
    """The percentile of a share from 0 to 1, by the nearest-rank method."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def summary(values):
    return {"n": len(values), "p50": percentile(values, 0.5), "p99": percentile(values, 0.99),
            "max": max(values), "min": min(values)}


def median_interval(values, confidence=0.95):
    """The median and its interval, by the bootstrap (2000 samples, Efron 1979), seeded."""
    chance = random.Random(1)
    medians = sorted(statistics.median(chance.choices(values, k=len(values))) for _ in range(2000))
    cut = int((1 - confidence) / 2 * len(medians))
    return statistics.median(values), medians[cut], medians[-1 - cut]


def load():
    """The load of the machine: other work on it makes the figures worse."""
    with open("/proc/loadavg") as file:
        return float(file.read().split()[0])


def machine():
    return {"cpus": os.cpu_count(), "load_before": load(), "kernel": os.uname().release,
            "slurm": run("slurmd", "-V").split()[-1]}


def processors():
    with open("/proc/cpuinfo") as file:
        names = re.findall(r"^model name\s*: (.*)$", file.read(), re.MULTILINE)
    return f"{os.cpu_count()} processors ({names[0] if names else 'unknown'})"


def command():
    """The command line of this benchmark, without --document and --json FILE."""
    words = sys.argv[1:]
    kept = [word for i, word in enumerate(words)
            if word not in ("--document", "--json") and (i == 0 or words[i - 1] != "--json")]
    return " ".join([f"tests/bench/{os.path.basename(sys.argv[0])}", *kept])


def write_document(title, commands, lines, columns, rows):
    """Replaces the section of this title in doc/performance.md, or adds it: the commands, lines of
    text, and a table of texts."""
    document = os.path.join(top, "doc/performance.md")
    head = f"## {title}\n"
    with open(document) as file:
        before, _, rest = file.read().partition(head)
    after = rest[rest.index("\n## ") + 1:] if "\n## " in rest else ""
    section = [head, ", ".join(f"`{words}`" for words in commands), "", *lines, "",
               "| " + " | ".join(columns) + " |", "|" + "---|" * len(columns),
               *("| " + " | ".join(row) + " |" for row in rows)]
    with open(document + ".new", "w") as file:
        file.write(before.rstrip("\n") + "\n\n" + "\n".join(section) + "\n" + (after and "\n" + after))
    os.replace(document + ".new", document)


def print_result(name, lines, figures, found, where):
    """Prints the table, the load and one line of JSON; writes that line to --json FILE."""
    where["load_after"] = load()
    for line in lines:
        print(line)
    print(f"\nmachine: {where['cpus']} processors, load {where['load_before']:.1f} before and "
          f"{where['load_after']:.1f} after, Slurm {where['slurm']}")
    if where["load_before"] > 0.3 * where["cpus"]:
        print("the machine was busy before this began: measure again on a quiet one")
    text = json.dumps({"bench": name, "machine": where, **figures}, sort_keys=True)
    print(text)
    if found.json:
        with open(found.json, "w") as file:
            file.write(text + "\n")
