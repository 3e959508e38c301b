/** The help texts and exit statuses of the contract verbs. */

import { exitStatus } from '../exit-status.ts'
import type { ContractVerb } from './contract-arguments.ts'

/** How `plan` and `diff` end, by what they find. */
export const contractStatus = {
  none: exitStatus.done,
  problem: exitStatus.failed,
  changes: 2,
  breaking: 3,
} as const

const statuses =
  'Exit status: 0 no change or done, 1 error, 2 changes, 3 breaking changes, 64 wrong usage, 69 service not reachable, 130 interrupted.'

const remote = `The service is that of --url or COVENANT_URL. The session is the secret in COVENANT_SESSION, or in the file that
--session-file or COVENANT_SESSION_FILE names. Without them, both are those of a profile (covenant login --help).`

const folder = `FOLDER is \`contracts\` where it is left out. Contracts are in **/*.odcs.yaml, .odcs.yml and .odcs.json; settings of a
tenant, or of tenants with an operator's session, in **/*.covenant.yaml and .covenant.yml.`

/** What `--help` prints, by verb. */
export const contractHelp: Readonly<Record<ContractVerb, string>> = {
  validate: `Usage: covenant validate [FOLDER] [--fail-on error|warning] [--json]

Checks contract documents: syntax, the standard's schema, ours, and what the service would not enforce. It asks no
service. ${folder}
${statuses}`,
  test: `Usage: covenant test [FOLDER] [--json]

Runs the policy tests of the contract documents, and says of each whether it passes. It asks no service. ${folder}
${statuses}`,
  plan: `Usage: covenant plan [FOLDER] [--out FILE] [--prune] [--prune-settings] [--managed-by NAME] [--json] [--url URL] [--session-file FILE]

Says what applying the folder would change on the service, what each change means, whom it breaks and who must sign it;
and what was changed on the service otherwise. It changes nothing.

  --out FILE         writes the plan, which \`covenant apply FILE\` applies
  --prune            plans to deprecate contracts that are gone from the folder
  --prune-settings   plans to remove settings that are not in a list of its files
  --managed-by NAME  who keeps the folder; default COVENANT_MANAGED_BY, else git

${folder}
${remote}
${statuses}`,
  diff: `Usage: covenant diff [FOLDER] [--managed-by NAME] [--json] [--url URL] [--session-file FILE]

Lists value by value where the folder differs from the documents in force. It changes nothing. ${folder}
${remote}
${statuses}`,
  apply: `Usage: covenant apply [FOLDER|PLAN.json] [--prune] [--prune-settings] [--secrets DIR] [--deploy] [--wait [--timeout SECONDS]] [--managed-by NAME]
                      [--json] [--url URL] [--session-file FILE]

Changes every setting that differs, one after the other, and then proposes every document that differs from the one in
force, all or none. Applying again does nothing. A plan's file is refused where the service or a file has changed since
it was made.

  --prune            deprecates contracts that are gone from the folder, and never deletes one
  --prune-settings   removes settings that are not in a list of its files
  --secrets DIR      where secrets of new sessions and webhooks are written, a file for each; they are shown once
  --deploy           deploys what is approved; takes the role steward
  --wait             waits until all are in force, and says how far they are
  --timeout SECONDS  how long; default 600
  --managed-by NAME  who keeps the folder; default COVENANT_MANAGED_BY, else git

${folder}
${remote}
${statuses}`,
  export: `Usage: covenant export [FOLDER] [--overwrite] [--json] [--url URL] [--session-file FILE]

Writes the documents in force to the folder, byte for byte as they were sent. A contract that a file of the folder has
goes there; others get a file named after their id. Files that say something else are left, unless --overwrite is given.
FOLDER is \`contracts\` where it is left out.
${remote}
${statuses}`,
}
