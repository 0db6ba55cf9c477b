// Every bundled attack and everyday use, in the order they are run.
import type { Attack, Control } from "../case.ts";
import { answerAttacks, answerUse } from "./answers.ts";
import { approvalAttacks } from "./approvals.ts";
import { everydayUse } from "./everyday.ts";
import { environmentAttacks } from "./environment.ts";
import { fsAttacks } from "./fs.ts";
import { gatewayAttacks } from "./gateway.ts";
import { patchAttacks } from "./patch.ts";
import { policyAttacks } from "./policy.ts";
import { processAttacks } from "./process.ts";
import { safeBinAttacks } from "./safe-bins.ts";
import { sandboxAttacks } from "./sandbox.ts";
import { secretAttacks } from "./secrets.ts";
import { sessionAttacks } from "./sessions.ts";
import { shellAttacks } from "./shell.ts";
import { wrapperAttacks } from "./wrappers.ts";

export const attacks: readonly Attack[] = [
  ...shellAttacks,
  ...wrapperAttacks,
  ...safeBinAttacks,
  ...environmentAttacks,
  ...approvalAttacks,
  ...answerAttacks,
  ...processAttacks,
  ...fsAttacks,
  ...patchAttacks,
  ...sandboxAttacks,
  ...policyAttacks,
  ...secretAttacks,
  ...gatewayAttacks,
  ...sessionAttacks,
];

export const controls: readonly Control[] = [...everydayUse, ...answerUse];
