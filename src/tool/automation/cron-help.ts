// What a model reads about jobs when it asks: the fields, the rules and three examples.

export const help = `Actions
status; list {includeDisabled?}; add {job}; update {jobId, patch}; remove {jobId}; run {jobId, mode? force|due}; runs {jobId, limit?}; wake {text, mode? now|next-heartbeat}.

A job
name; schedule; payload; optional: description, agentId (you, when left out), enabled, deleteAfterRun, wakeMode now|next-heartbeat, delivery, misfire.
schedule, one of
  {kind:"at", at:"2030-01-31T08:00:00", tz?:"Europe/Berlin"}  once; without a zone it is UTC
  {kind:"every", everyMs:3600000}  at least 1000
  {kind:"cron", expr:"0 7 * * 1-5", tz:"Europe/Berlin"}  five or six fields; without tz the host's zone
payload, one of
  {kind:"systemEvent", text}  a line for the main session, which then takes a turn; for reminders
  {kind:"agentTurn", message, model?, thinking?, timeoutSeconds?, toolsAllow?}  a turn in a session of its own; write down all it needs to know
  {kind:"exec", command, workdir?, timeout?}  a command, no model
  {kind:"tool", tool, args}  a tool, no model
delivery (not for systemEvent): {mode:"announce"|"none", channel?, to?, bestEffort?}; announce puts the result into the chat it names, else into the main one.
misfire, for a time that was missed: "once" (made up for, the default), "skip", {windowMs}.

Examples
{action:"add", job:{name:"Tea", schedule:{kind:"at", at:"2030-01-31T08:00:00Z"}, payload:{kind:"systemEvent", text:"Remind the user: tea"}}}
{action:"add", job:{name:"Morning brief", schedule:{kind:"cron", expr:"0 7 * * *", tz:"Europe/Berlin"}, payload:{kind:"agentTurn", message:"Sum up today's calendar in five lines."}, delivery:{mode:"announce"}}}
{action:"update", jobId:"…", patch:{enabled:false}}

Another gateway: gatewayUrl with an explicit gatewayToken, and timeoutMs.`;
