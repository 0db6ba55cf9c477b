// How Python is started with the bytes of a script instead of its path: all a script sees of itself stays as it is.
import { dirname } from "node:path";

import type { ScriptUse } from "./script-use.ts";

/** For `-c`; the name of the script and its arguments follow. Also for Python 2. */
export function pythonStart(copy: string, { file }: ScriptUse): string {
  return `
def _start():
    import os, sys
    del sys.argv[0]
    name = sys.argv[0] if sys.version_info < (3, 9) else os.path.join(os.getcwd(), sys.argv[0])
    with open(${literal(copy)}, "rb") as script:
        text = script.read()
    if sys.path and sys.path[0] == "":
        sys.path[0] = ${literal(dirname(file.real))}
    main = sys.modules["__main__"].__dict__
    del main["_start"]
    main["__file__"] = name
    main["__cached__"] = None
    if sys.version_info >= (3, 4):
        from importlib.machinery import SourceFileLoader
        main["__loader__"] = SourceFileLoader("__main__", name)
    return compile(text, name, "exec", 0, True)
exec(_start())
`;
}

/** JSON is a literal of Python too, but for what is not ASCII in Python 2. */
const literal = (text: string): string => JSON.stringify(text);
