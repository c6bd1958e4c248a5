"""Write all golden traces anew: ``python -m tests.golden.regenerate`` from the top of the repository.

To be run when a change of the model is meant to change what packets do, or a policy was added. Look at the difference
before committing it: it is the change, told packet by packet.
"""

from __future__ import annotations

from tests.golden.rendering import DATA, every_trace, path_of, render


def main() -> None:
    """Write every trace, remove those of policies that are gone, and say what changed."""
    wanted = {path_of(network, policy): (network, policy) for network, policy in every_trace()}
    for path in sorted(set(DATA.glob("*/*.txt")) - set(wanted)):
        path.unlink()
        print(f"removed    {path.relative_to(DATA)}")
    for path, (network, policy) in wanted.items():
        before = path.read_text() if path.exists() else None
        after = render(network, policy)
        if after == before:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(after)
        print(f"{'new' if before is None else 'changed':<9}  {path.relative_to(DATA)}")


if __name__ == "__main__":
    main()
