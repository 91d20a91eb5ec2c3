"""Flags that say what a file does not."""

from dataclasses import dataclass, field
from typing import Annotated

from typer import Option

from tonnage.cli import values
from tonnage.cli.upload import maps
from tonnage.cli.upload.labels import Labels


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelFlags:
    """Labels for every file of the command; ``tonnage.yaml`` beside the files holds the same."""

    set_: Annotated[
        list[str],
        Option("--set", metavar="KEY=VALUE", help="What the file does not say: accelerator=h100-sxm-80gb; repeated."),
    ] = field(default_factory=list)
    map_: Annotated[
        list[str],
        Option(
            "--map",
            metavar="OURS=THEIRS|FILE",
            help="A column of a table nobody knows: ttft_p90_ms=ttft90, or a file that --save-map wrote; repeated, "
            "and a pair wins over a file.",
        ),
    ] = field(default_factory=list)
    save_map: Annotated[
        str, Option(metavar="FILE", help="Write the column map to a YAML file for --map, once a file was read by it.")
    ] = ""
    sweep: Annotated[str, Option(help="Levels under one id are one curve; the folder's name when left out.")] = ""
    namespace: Annotated[str, Option(help="Whose runs; empty means default.")] = ""
    format: Annotated[str, Option(help="Reader to use, as `tonnage formats` names it; sniffed when left out.")] = ""

    def labels(self) -> Labels:
        """Return what the flags say."""
        return Labels(
            given=values.pairs("--set", self.set_),
            column_map=maps.column_map(self.map_),
            sweep=self.sweep,
            namespace=self.namespace,
            format=self.format,
        )
