// Routes that prepare the answer to the next file chooser or dialog of a page.
import { Type } from "../../core/schema.ts";
import { actFailure } from "../act/failure.ts";
import { browserError } from "../errors.ts";
import { route, targetId, type RouteCall } from "../route.ts";
import type { Tab } from "../tab.ts";
import { readUploadFiles, type UploadFile } from "../upload-files.ts";

const ARM_MS = 120_000;
const CHOOSER_MS = 5000;

const closed = { additionalProperties: false };
const optional = Type.Optional;
const ref = optional(Type.Union([Type.String({ minLength: 1 }), Type.Number()]));
const timeoutMs = optional(Type.Number({ minimum: 1, maximum: ARM_MS }));
const uploadParams = Type.Object(
  {
    paths: Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 50 }),
    ref,
    inputRef: ref,
    element: optional(Type.String({ minLength: 1 })),
    targetId,
    timeoutMs,
  },
  closed,
);

export const hookRoutes = [
  route("POST", "/hooks/file-chooser", uploadParams, async (params, call) => {
    const { paths, inputRef, element } = params;
    const ways = [params.ref, inputRef, element].filter((way) => way !== undefined);
    if (ways.length > 1)
      throw browserError("browser.bad-request", "give only one of ref (to click), inputRef and element");
    const tab = await call.tab(params.targetId);
    const { paths: own, media } = call.browsers.deps;
    const allowed = [...call.caller.uploadFolders, media.folder];
    const files = await readUploadFiles(paths, { allowed, denied: own.state });
    return tab.run(call.signal, async () => {
      if (inputRef !== undefined || element !== undefined) await setFiles(tab, inputRef, element, files, call);
      else await chooseFiles(tab, params.ref, files, params.timeoutMs ?? ARM_MS, call);
      return { ok: true, targetId: tab.targetId, notes: tab.events.takeNotes() };
    });
  }),
  route(
    "POST",
    "/hooks/dialog",
    Type.Object({ accept: Type.Boolean(), promptText: optional(Type.String()), targetId, timeoutMs }, closed),
    async (params, call) => {
      const tab = await call.tab(params.targetId);
      tab.events.armDialog(params.accept, params.promptText, params.timeoutMs ?? ARM_MS);
      const verb = params.accept ? "accepted" : "dismissed";
      return { ok: true, targetId: tab.targetId, notes: [`the next dialog will be ${verb}`] };
    },
  ),
];

/** Without a chooser, on the file input itself. */
async function setFiles(
  tab: Tab,
  inputRef: string | number | undefined,
  element: string | undefined,
  files: readonly UploadFile[],
  call: RouteCall,
): Promise<void> {
  const input = inputRef === undefined ? tab.page.locator(element ?? "").first() : await tab.locate(inputRef, call);
  if (inputRef === undefined && (await input.count()) === 0)
    throw browserError("browser.bad-request", `no element matches "${(element ?? "").slice(0, 100)}"`);
  await input.setInputFiles([...files], { timeout: Math.min(CHOOSER_MS, call.timeoutMs) }).catch((error: unknown) => {
    throw actFailure("upload", error, CHOOSER_MS);
  });
  tab.events.note(`uploaded ${files.length} file(s)`);
}

async function chooseFiles(
  tab: Tab,
  ref: string | number | undefined,
  files: readonly UploadFile[],
  ms: number,
  call: RouteCall,
): Promise<void> {
  if (ref === undefined) {
    // Expires by itself, so the answer does not wait for it.
    void tab.events.armFiles(files, ms);
    return tab.events.note("the next file chooser will get the files");
  }
  const element = await tab.locate(ref, call);
  const chosen = tab.events.armFiles(files, CHOOSER_MS);
  await element.click({ timeout: Math.min(CHOOSER_MS, call.timeoutMs) }).catch((error: unknown) => {
    throw actFailure(`click on ref ${ref}`, error, CHOOSER_MS);
  });
  if (!(await chosen))
    throw browserError("browser.failed", `clicking ref ${ref} opened no file chooser`, {
      hint: "give inputRef, the ref of the file input itself, instead of ref",
    });
}
