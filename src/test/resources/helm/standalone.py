"""Makes schemas of kinds that stand alone, since kubeconform doesn't follow the references of the package.

    standalone.py FOLDER-OF-SCHEMAS FOLDER-TO-WRITE KIND.json...
"""

import json
import pathlib
import sys

source, target = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
definitions = json.loads((source / "_definitions.json").read_text())["$defs"]
target.mkdir(parents=True, exist_ok=True)
for kind in sys.argv[3:]:
    schema = json.loads((source / kind).read_text()) | {"definitions": definitions}
    text = json.dumps(schema)
    for reference in ("/api/_definitions.json#/$defs/", "#/$defs/"):
        text = text.replace(f'"{reference}', '"#/definitions/')
    (target / kind).write_text(text)
