// The views of the page. A new view is a file in views/ and a line here.
import type { TemplateResult } from "lit";

import type { App } from "./app.ts";

export interface View {
  /** `rest` is the part of the address after the name of the view. */
  draw(app: App, rest: readonly string[]): TemplateResult;
}

export interface ViewEntry {
  readonly id: string;
  readonly title: string;
  /** Path of a 24 by 24 outline. */
  readonly icon: string;
  load(): Promise<{ readonly view: View }>;
}

export const views: readonly ViewEntry[] = [
  {
    id: "chat",
    title: "Chat",
    icon: "M4 5h16v11H10l-4 4v-4H4z",
    load: () => import("./views/chat.ts"),
  },
  { id: "overview", title: "Overview", icon: "M4 12l8-8 8 8M6 10v10h12V10", load: () => import("./views/overview.ts") },
  {
    id: "tools",
    title: "Tools",
    icon: "M14 6a4 4 0 0 1 5 5l-9 9-4-4 9-9zM5 15l4 4",
    load: () => import("./views/tools.ts"),
  },
  {
    id: "cron",
    title: "Cron",
    icon: "M12 4a8 8 0 1 0 0 16a8 8 0 1 0 0-16M12 8v4l3 2",
    load: () => import("./views/cron.ts"),
  },
  {
    id: "nodes",
    title: "Nodes",
    icon: "M4 5h16v10H4zM9 20h6M12 15v5",
    load: () => import("./views/nodes.ts"),
  },
];
