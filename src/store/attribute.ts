// Finds the table of a row by its columns, for rows found outside the trees of a damaged store.
import type { Connection } from "./connection.ts";
import type { RawRow } from "./pages.ts";
import { text } from "./row.ts";
import type { Shape } from "./shapes.ts";
import { rows, type SqlRow, type SqlValue } from "./sql.ts";

export interface Attributed {
  readonly shape: Shape;
  readonly row: SqlRow;
}

interface Column {
  readonly name: string;
  readonly fits: (value: SqlValue) => boolean;
}

/** All tables that a row may belong to, the most likely first; empty when it fits no table. */
export function createAttribution(fresh: Connection, shapes: readonly Shape[]): (raw: RawRow) => Attributed[] {
  const tables = shapes.map((shape) => ({ shape, columns: columnsOf(fresh, shape) }));
  return ({ rowid, values }) =>
    tables
      .flatMap(({ shape, columns }): Attributed[] => {
        const fits =
          values.length <= columns.length &&
          columns.every(({ fits: takes }, at) => (at === 0 ? values[0] === null : takes(values[at] ?? null)));
        if (!fits) return [];
        const row = Object.fromEntries(columns.map(({ name }, at) => [name, at === 0 ? rowid : (values[at] ?? null)]));
        return [{ shape, row }];
      })
      .toSorted((one, two) => doubt(one) - doubt(two));
}

function columnsOf(fresh: Connection, { table }: Shape): Column[] {
  return fresh.run(rows(`SELECT name, type, "notnull" AS required FROM pragma_table_info('${table}')`)).map((row) => {
    const type = text(row, "type");
    const isRequired = row["required"] === 1;
    return {
      name: text(row, "name"),
      fits: (value) => (value === null ? !isRequired : typeof value === (type === "TEXT" ? "string" : "number")),
    };
  });
}

/** Pairing requests and delivery keys have the same columns; a device id equals the name of its key. */
function doubt({ shape: { table }, row }: Attributed): number {
  return table === "device_requests" && !/^[0-9a-f]{64}$/.test(String(row["device_id"])) ? 1 : 0;
}
