// Starts Python with the bytes of an approved script instead of its path; the script sees its own path as usual.
import { dirname } from "node:path";

import type { ScriptUse } from "./script-use.ts";

/**
 * For `-c`, followed by the script name and its arguments; also for Python 2. Its own imports search neither the working folder
 * nor the script's folder, because an `os.py` there was not approved.
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

/** JSON is also valid Python, except for non-ASCII text in Python 2. */
const literal = (text: string): string => JSON.stringify(text);
