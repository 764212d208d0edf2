"""The tables of this room, one file a noun."""

from dashboard.groups.models.findings import Finding
from dashboard.groups.models.flow import Flow
from dashboard.groups.models.group import Group
from dashboard.groups.models.lag import LagStep
from dashboard.groups.models.members import Member, MemberList, Presence, Subscription
from dashboard.groups.models.owners import BACK_LOW, IS_BACK, Holding, Target
from dashboard.groups.models.progress import Progress
from dashboard.groups.models.refusals import LockGrant, LockRefusal, PullRefusal
from dashboard.groups.models.rounds import Handoff, Round, RoundCause

__all__ = [
    "BACK_LOW",
    "IS_BACK",
    "Finding",
    "Flow",
    "Group",
    "Handoff",
    "Holding",
    "LagStep",
    "LockGrant",
    "LockRefusal",
    "Member",
    "MemberList",
    "Presence",
    "Progress",
    "PullRefusal",
    "Round",
    "RoundCause",
    "Subscription",
    "Target",
]
