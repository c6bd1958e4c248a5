"""Types of the compiled core. Private: the package in front of it owns names, defaults and messages.

Times are integer picoseconds. Arrays are C-contiguous and belong to the caller.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, type_check_only

import numpy as np
from numpy.typing import NDArray

class ConfigError(ValueError): ...
class IllegalActionError(ValueError): ...
class DeadlockError(RuntimeError): ...
class StateError(RuntimeError): ...

@type_check_only
class ValueRange(TypedDict):
    low: float | None
    high: float | None
    whole: bool
    names: list[str]

@type_check_only
class NetworkRow(ValueRange):
    name: str

@type_check_only
class ParameterInfo(ValueRange):
    name: str
    type: Literal["real", "whole", "flag", "name", "network", "network-real", "object"]
    default: float | str | bool | None
    doc: str
    unit: str

@type_check_only
class PolicyInfo(TypedDict):
    name: str
    summary: str
    source: str
    scope: Literal["source", "every", "all", "progressive", "progressive-busy"]
    action: Literal["path", "port"]
    parameters: list[ParameterInfo]
    features: list[str]
    aliases: list[str]
    knowledge: Literal["local", "delayed", "ideal"]

@type_check_only
class TrackedFeature(TypedDict):
    name: str
    per: Literal["port", "decision", "candidate", "link", "group", "peer"]
    knowledge: Literal["local", "delayed", "ideal"]

@type_check_only
class RequirementsOfRun(TypedDict):
    local_vcs: int
    global_vcs: int
    partitions: int
    network_bytes: int
    most_packet_bytes: int

@type_check_only
class TrackerInfo(TypedDict):
    name: str
    summary: str
    features: list[str]
    shown: list[TrackedFeature]
    parameters: list[ParameterInfo]

@type_check_only
class PatternParameterInfo(TypedDict):
    name: str
    default: str
    doc: str

@type_check_only
class PatternInfo(TypedDict):
    name: str
    summary: str
    source: str
    example: str
    closed_loop: bool
    parameters: list[PatternParameterInfo]

@type_check_only
class FeatureInfo(TypedDict):
    name: str
    per: Literal["port", "decision", "candidate"]
    doc: str
    usual: bool
    occupancy: bool
    knowledge: Literal["local", "delayed", "ideal"]

class Topology:
    def __init__(
        self,
        p: int,
        a: int,
        h: int,
        g: int,
        arrangement: str,
        trunking: int,
        group: str | None = None,
        group_parameters: Mapping[str, int] = ...,
        dead_links: Sequence[tuple[int, int]] = ...,
        dead_routers: Sequence[int] = ...,
        degraded: Sequence[tuple[int, int, float]] = ...,
        listed: Sequence[tuple[int, int, int, int, int, int]] = ...,
    ) -> None: ...
    @property
    def num_hosts(self) -> int: ...
    @property
    def num_routers(self) -> int: ...
    @property
    def num_groups(self) -> int: ...
    @property
    def radix(self) -> int: ...
    def neighbor(self, router: int, port: int) -> tuple[int, int]: ...
    @property
    def num_local_ports(self) -> int: ...
    @property
    def diameter(self) -> int: ...
    @property
    def link_classes(self) -> list[tuple[str, int, int]]: ...
    def port_kind(self, port: int) -> str: ...
    def port_towards_group(self, router: int, group: int) -> int: ...
    def minimal_ports(self, router: int, dst_router: int) -> list[int]: ...
    def minimal_port(self, router: int, dst_router: int) -> int: ...
    def minimal_hops(self, router: int, dst_router: int) -> int: ...
    def router_of_host(self, host: int) -> int: ...
    def group_of(self, router: int) -> int: ...
    def router_of_hosts(self) -> NDArray[np.int64]: ...
    def port_of_hosts(self) -> NDArray[np.int64]: ...
    def group_of_routers(self) -> NDArray[np.int64]: ...
    def links(self) -> NDArray[np.uint32]: ...
    # (num_routers,) flags.
    def dead_routers(self) -> NDArray[np.bool_]: ...
    # (group, group, relays) of pairs that no link joins.
    def relayed_groups(self) -> list[tuple[int, int, int]]: ...
    @property
    def host_routers(self) -> int: ...
    @property
    def first_global_router(self) -> int: ...
    @property
    def global_positions(self) -> int: ...

max_radix: int
most_routers_of_group: int
most_threads: int

def arrangements() -> list[str]: ...
def group_shapes() -> list[str]: ...

# All routers of a group, and those with global ports.
def group_routers(name: str, parameters: Mapping[str, int]) -> tuple[int, int]: ...

# A port of one class of link, of bundled links together.
@type_check_only
class LinkParams(TypedDict):
    packet_ps: int
    latency_ps: int
    buffer_packets: int
    vcs: int

# What NetworkConfig.to_core() is made of: every row of network_rows(), and "links" as a list of LinkParams.
NetworkParams: TypeAlias = Mapping[str, Any]

def network_rows() -> list[NetworkRow]: ...

# The longest delay of any event, in units of the common divisor of all delays; and how long it may be.
def network_horizon(network: NetworkParams) -> int: ...

longest_horizon: int

class Source: ...

class Pattern:
    def destination(self, host: int, message: int, seed: int) -> int: ...
    def sends(self, host: int) -> bool: ...
    def share(self, host: int) -> float: ...
    def received(self) -> NDArray[np.float64]: ...
    def demand(self, by_host: bool = False) -> NDArray[np.float64]: ...

def make_pattern(
    topology: Topology,
    seed: int,
    name: str,
    arguments: Mapping[str, Any],
    uniform_excludes_sender: bool = False,
) -> Pattern: ...
def parse_pattern(spec: str) -> tuple[str, dict[str, Any]]: ...
def synthetic_source(
    topology: Topology,
    steps: Sequence[tuple[int, Pattern, float]],
    process: str,
    seed: int,
    message_packets: int,
    packet_ps: int,
    trial_ps: int,
    first_ps: int,
    periodic_intervals: str = "exact",
) -> Source: ...
def trace_source(
    topology: Topology,
    time_ps: NDArray[np.int64],
    src: NDArray[np.uint32],
    dst: NDArray[np.uint32],
    packets: NDArray[np.uint32],
    route_offsets: NDArray[np.int64] | None,
    routes: NDArray[np.uint32] | None,
) -> Source: ...
def workload(
    topology: Topology,
    seed: int,
    name: str,
    arguments: Mapping[str, Any],
    packet_bytes: int,
    packet_flits: int = 1,
) -> Source: ...

class Graph:
    def __init__(
        self,
        name: str,
        ranks: int,
        operations: Callable[[int], Iterable[Sequence[Any]]],
        most: int,
        iteration: str,
    ) -> None: ...
    @property
    def num_ranks(self) -> int: ...
    @property
    def num_operations(self) -> int: ...
    @property
    def measured(self) -> list[str]: ...
    @property
    def nests(self) -> bool: ...
    def most_packets(self, packet_bytes: int) -> int: ...
    def operations(self, rank: int) -> list[list[Any]]: ...

def read_goal(
    path: str,
    calc_ps: float,
    bytes_scale: float,
    ranks_per_host: int,
    overhead_ps: int,
    rendezvous_bytes: int | None,
) -> Graph: ...
def check_program(spec: str, tasks: int, packet_bytes: int) -> None: ...
def job_source(
    topology: Topology, background: Source | None, jobs: Sequence[Mapping[str, Any]]
) -> Source: ...
def place_tasks(topology: Topology, placement: str, seed: int, job: int) -> list[int]: ...
def source_schedule(
    source: Source, host: int, count: int
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]: ...

@type_check_only
class PolicyRecord(TypedDict):
    field: NotRequired[str]  # for messages
    name: str
    parameters: Mapping[str, Any]

# What SimulationConfig.to_core() is made of, which goes by the same names as the core's own settings: topology, network
# (NetworkParams), source, policy (PolicyRecord), job_policies (a list of them), and the plain fields of its rows.
SimulationRecord: TypeAlias = Mapping[str, Any]

class Simulation:
    def __init__(self, run: SimulationRecord) -> None: ...
    def run(self, ps: int) -> None: ...
    def drain(self, max_ps: int) -> bool: ...
    def run_to_completion(self, max_ps: int) -> bool: ...
    def set_policy(self, policy: PolicyRecord) -> None: ...
    def q_table(self) -> NDArray[np.float32] | None: ...
    def load_q_table(self, values: NDArray[np.float32]) -> None: ...
    def reset_statistics(self) -> None: ...
    def trace_hash(self) -> int: ...
    # the number of the policy
    def add_policy(self, field: str, policy: PolicyRecord) -> int: ...
    def set_job_policies(self, job: int, policies: tuple[int, int]) -> None: ...
    def statistics(self) -> dict[str, Any]: ...
    # now_ps, generated, lost, delivered and latency_sum_ps of it, without the rest
    def totals(self) -> dict[str, int]: ...
    # its state as bytes, and the inverse, into one that was just made of the same record
    def save(self) -> NDArray[np.uint8]: ...
    def load(self, state: NDArray[np.uint8]) -> None: ...
    # after load() of the state of a run with another source
    def resync_source(self) -> None: ...
    @property
    def clock_ps(self) -> int: ...
    def counters(self) -> dict[str, Any]: ...
    def packet_log(self) -> dict[str, NDArray[Any]]: ...
    def check_invariants(self) -> None: ...
    @property
    def progress(self) -> float: ...
    @property
    def time_ps(self) -> int: ...
    @property
    def num_partitions(self) -> int: ...

archive_format: int
packet_dtype: np.dtype[np.void]
candidate_dtype: np.dtype[np.void]

class RoutingEnvironment:
    # run: a SimulationRecord with "decisions", what is asked, and perhaps a PolicyRecord as "background"
    def __init__(self, run: SimulationRecord, warmup_ps: int, duration_ps: int) -> None: ...
    @staticmethod
    def several(
        runs: Sequence[SimulationRecord], warmup_ps: int, duration_ps: int, threads: int
    ) -> RoutingEnvironment: ...
    def advance(self) -> None: ...
    # as those of Simulation
    def save(self) -> NDArray[np.uint8]: ...
    def load(self, state: NDArray[np.uint8]) -> None: ...
    # with a background policy; follow: ConfigError unless the batch has such a row
    def seek(self) -> None: ...
    def follow(self, row: int) -> None: ...
    # the actions of the whole batch; IllegalActionError for the first one that the mask forbids
    def take_all(self, actions: NDArray[np.int64]) -> None: ...
    # the minimal action in place of an illegal one; whether it was legal, or where illegal ones are
    def take_action(self, row: int, action: int) -> bool: ...
    def take_actions(self, rows: NDArray[np.int64], actions: NDArray[np.int64]) -> list[int]: ...
    # when every row of the batch has its action
    def go_on(self) -> None: ...
    def extend(self, duration_ps: int) -> None: ...
    def begin_drain(self, latest_ps: int = ..., refusal: str = ..., network: int = ...) -> None: ...
    # obs, mask, agents, decision ids, packets, times in ns, candidates, networks if there are several: views of the
    # core's memory
    def batch(
        self,
    ) -> tuple[
        NDArray[np.float32],
        NDArray[np.bool_],
        NDArray[np.int32],
        NDArray[np.int64],
        NDArray[Any],
        NDArray[np.float64],
        NDArray[Any] | None,
        NDArray[np.int32] | None,
    ]: ...
    # StateError unless so many batches came before it
    def draws(self, each: int, batch_number: int) -> NDArray[np.float64]: ...
    # the fields of Transitions in their order
    def transitions(
        self,
    ) -> tuple[
        NDArray[np.int64],
        NDArray[np.int32],
        NDArray[np.float32],
        NDArray[np.int32],
        NDArray[np.float64],
        NDArray[np.float32],
        NDArray[np.bool_],
        NDArray[np.bool_],
        NDArray[np.int32],
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.int64],
        NDArray[np.bool_],
        NDArray[np.int32],
        NDArray[np.bool_],
        NDArray[np.float64],
    ]: ...
    # returns how many decisions were made; ConfigError if the network does not fit
    def rollout(self, policy: ScoringNetwork, transitions: int) -> int: ...
    # of transitions that were taken, which are forgotten; NaN where no rollout made the decision
    def log_probabilities(
        self, decision_ids: NDArray[np.int64], scenario: NDArray[np.int32]
    ) -> NDArray[np.float32]: ...
    # the fields of Outcomes in their order
    def outcomes(
        self,
    ) -> tuple[
        NDArray[np.int64],
        NDArray[np.float64],
        NDArray[np.int32],
        NDArray[np.int64],
        NDArray[np.bool_],
        NDArray[np.int32],
    ]: ...
    # the fields of HopFeedback in their order
    def reports(
        self,
    ) -> tuple[
        NDArray[np.int64],
        NDArray[np.int64],
        NDArray[np.int32],
        NDArray[np.int32],
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.int32],
    ]: ...
    # by router, numbered on from one network to the next: reward_ps, packets generated, packets delivered
    def tallies(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...
    def set_credit(self, network: int, credit_ps: int) -> None: ...
    def latency_ps(self, network: int) -> int: ...
    def state(self, network: int = ...) -> NDArray[np.float32]: ...
    # of the columns of ports; that of all others is 1
    def state_high(self, network: int = ...) -> float: ...
    def simulation_of(self, network: int) -> Simulation: ...
    def layout(self) -> list[dict[str, Any]]: ...
    @property
    def simulation(self) -> Simulation: ...
    @property
    def end_ps(self) -> int: ...
    @property
    def num_batches(self) -> int: ...
    @property
    def done(self) -> bool: ...
    @property
    def overflowed(self) -> bool: ...
    @property
    def outcomes_overflowed(self) -> bool: ...
    @property
    def reports_overflowed(self) -> bool: ...
    @property
    def time_ns(self) -> float: ...
    @property
    def num_actions(self) -> int: ...
    @property
    def num_features(self) -> int: ...

class ScoringNetwork:
    def __init__(
        self,
        spec: Mapping[str, Any],
        per_action: bool,
        activation: str,
        temperature: float,
        features: Sequence[str],
        scales: Sequence[float],
        weights: Sequence[NDArray[np.float32]],
        biases: Sequence[NDArray[np.float32]],
    ) -> None: ...

def features() -> list[FeatureInfo]: ...
def policies() -> list[PolicyInfo]: ...
def policy_scope(policy: str, policy_params: Mapping[str, float | str | bool]) -> str: ...
def trackers() -> list[TrackerInfo]: ...
def patterns() -> list[PatternInfo]: ...
def check_link_events(
    topology: Topology, events: Sequence[tuple[int, int, int, bool]], notice_ps: int
) -> None: ...
def requirements(run: SimulationRecord) -> RequirementsOfRun: ...
def message_numbers(topology: Topology, global_vcs: int) -> dict[str, int]: ...
def required_vcs(
    topology: Topology, policy: str, policy_params: Mapping[str, float | str | bool], vc_scheme: str
) -> tuple[int, int]: ...
def channel_dependencies(
    topology: Topology, policy: str, policy_params: Mapping[str, float | str | bool], vc_scheme: str
) -> tuple[NDArray[np.uint32], int]: ...
