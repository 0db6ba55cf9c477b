// How Python is started with the bytes of a script instead of its path: all a script sees of itself stays as it is.
import { dirname } from "node:path";

import type { ScriptUse } from "./script-use.ts";

/**
 * For `-c`; the name of the script and its arguments follow. Also for Python 2. What it imports itself is looked for with
 * neither the working folder nor that of the script on the path: an `os.py` there was not allowed by anybody.
 */
export function pythonStart(copy: string, { file }: ScriptUse): string {
  return `
def _start():
    import sys
    isBeside = sys.path[:1] == [""]
    if isBeside:
        del sys.path[0]
    import os
    del sys.argv[0]
    name = sys.argv[0] if sys.version_info < (3, 9) else os.path.join(os.getcwd(), sys.argv[0])
    with open(${literal(copy)}, "rb") as script:
        text = script.read()
    main = sys.modules["__main__"].__dict__
    del main["_start"]
    main["__file__"] = name
    main["__cached__"] = None
    if sys.version_info >= (3, 4):
        from importlib.machinery import SourceFileLoader
        main["__loader__"] = SourceFileLoader("__main__", name)
    if isBeside:
        sys.path.insert(0, ${literal(dirname(file.real))})
    return compile(text, name, "exec", 0, True)
exec(_start())
`;
}

/** JSON is a literal of Python too, but for what is not ASCII in Python 2. */
const literal = (text: string): string => JSON.stringify(text);
