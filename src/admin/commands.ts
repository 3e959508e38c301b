/** Lists the administration commands in the order of the help. */

import { auditCommands } from './audit-commands.ts'
import { catalogCommands } from './catalog-commands.ts'
import { checkCommands } from './check-commands.ts'
import type { Command } from './command.ts'
import { credentialCommands } from './credential-commands.ts'
import { graphCommands } from './graph-commands.ts'
import { intentCommands } from './intent-commands.ts'
import { keyCommands } from './key-commands.ts'
import { lineageCommands } from './lineage-commands.ts'
import { lineageServiceCommands } from './lineage-service-commands.ts'
import { policyCommands } from './policy-commands.ts'
import { quarantineCommands } from './quarantine-commands.ts'
import { readerCommands } from './reader-commands.ts'
import { replayCommands } from './replay-commands.ts'
import { retentionCommands } from './retention-commands.ts'
import { semanticsCommands } from './semantics-commands.ts'
import { sessionCommands } from './session-commands.ts'
import { sourceCommands } from './source-commands.ts'
import { tagCommands } from './tag-commands.ts'
import { tenantCommands } from './tenant-commands.ts'
import { territoryCommands } from './territory-commands.ts'
import { webhookCommands } from './webhook-commands.ts'
import { workloadCommands } from './workload-commands.ts'

export const commands: readonly Command[] = [
  ...tenantCommands,
  ...sessionCommands,
  ...catalogCommands,
  ...policyCommands,
  ...replayCommands,
  ...tagCommands,
  ...auditCommands,
  ...readerCommands,
  ...intentCommands,
  ...retentionCommands,
  ...graphCommands,
  ...territoryCommands,
  ...quarantineCommands,
  ...credentialCommands,
  ...webhookCommands,
  ...keyCommands,
  ...workloadCommands,
  ...sourceCommands,
  ...lineageCommands,
  ...lineageServiceCommands,
  ...checkCommands,
  ...semanticsCommands,
]
