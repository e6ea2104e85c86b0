"""run_built_snippets.py SLUICE PAGE: run_snippets.py for pages that build something.

Besides what it does: a block that says `file=PATH` is written to that path in the home directory, and
what the page calls `build` is the build directory of the binary.
"""
import sys
from pathlib import Path

import run_snippets


class Builder(run_snippets.Reader):
    def run(self, language, info, text):
        path = next((Path(self.home, word[5:]) for word in info if word.startswith("file=")), None)
        if path is None:
            return super().run(language, info, text)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return 1

    def shell(self, text, wanted):
        build = str(self.binary.parent)
        super().shell(text.replace("--install build", f"--install {build}").replace("build/examples", f"{build}/examples"), wanted)


run_snippets.Reader = Builder
sys.exit(run_snippets.main())
