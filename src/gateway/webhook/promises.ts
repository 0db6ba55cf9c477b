// Where the store keeps what is owed for webhooks whose turn has not ended.

/** The space of the rows; a start looks whether there are any before it loads the rest. */
export const PROMISES = "webhook-runs";
