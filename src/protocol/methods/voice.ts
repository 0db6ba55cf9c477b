// The words that wake a listening node.
import { looseMethod } from "../method.ts";

export const voicewakeGet = looseMethod("voicewake.get", "operator.read");
export const voicewakeSet = looseMethod("voicewake.set", "operator.write");
