// Why the approvals file of a node cannot be edited from the page, and what to do instead.
import { html, type TemplateResult } from "lit";

import { nameOf } from "../nodes/binding.ts";
import type { NodeRow } from "../../../src/protocol/methods/nodes.ts";
import "./copy-line.ts";
import { nodeCommand } from "./node-list.ts";

export type Obstacle = "away" | "by hand";

/** A node that is no longer listed counts as offline. */
export function obstacleOf(node: NodeRow | undefined): Obstacle | undefined {
  if (node?.connected !== true) return "away";
  return isEditable(node) ? undefined : "by hand";
}

export const drawObstacle = (obstacle: Obstacle): TemplateResult =>
  obstacle === "away" ? drawOffline() : drawByHand();

function isEditable({ commands }: NodeRow): boolean {
  return ["system.execApprovals.get", "system.execApprovals.set"].every((name) => commands.includes(name));
}

export function targetName(node: NodeRow): string {
  if (!node.connected) return `${nameOf(node)}, offline`;
  return isEditable(node) ? nameOf(node) : `${nameOf(node)}, edit on that machine`;
}

function drawOffline(): TemplateResult {
  return html`
    <p>This node is offline, and its approvals file is on that machine. To reconnect it, run there:</p>
    <copy-line .text=${nodeCommand(location)}></copy-line>
  `;
}

function drawByHand(): TemplateResult {
  return html`
    <div class="note quiet">
      <p>This node does not support editing its approvals from here. Edit this file on that machine:</p>
      <copy-line .text=${"~/.openclaw/exec-approvals.json"}></copy-line>
      <p>
        <code>defaults</code> and <code>agents.&lt;id&gt;</code> hold <code>security</code>, <code>ask</code>,
        <code>askFallback</code> and <code>autoAllowSkills</code>; <code>agents.&lt;id&gt;.allowlist</code> lists
        programs as <code>{"pattern": "/usr/bin/rg"}</code>. A node that offers
        <code>system.execApprovals.get</code> and <code>system.execApprovals.set</code> can be edited here.
      </p>
    </div>
  `;
}
