// The store space for webhooks whose result is not reported yet.

/** Separate, so that the start can check for rows before it loads the webhook code. */
export const PENDING_REPORTS = "webhook-runs";
