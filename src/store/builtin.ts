// The store driver in use; the only file that names one.
import { openSqliteStore } from "./sqlite.ts";

export const openStore = openSqliteStore;
