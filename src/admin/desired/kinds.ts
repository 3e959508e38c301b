/**
 * The settings that can be kept in files. Each is put by the operations of the service, whose schemas say what a file
 * may say; nothing is checked here that the service checks.
 */

import { catalogKind, policyKind, sessionKind } from './access-kinds.ts'
import { issuerKind, trustKind } from './issuer-kinds.ts'
import type { Kind } from './kind.ts'
import { settingKinds } from './setting-kinds.ts'
import { classifierKind, webhookKind } from './watch-kinds.ts'

/** In the order in which they are put. */
export const kinds: readonly Kind[] = [
  ...settingKinds,
  catalogKind,
  issuerKind,
  trustKind,
  policyKind,
  sessionKind,
  webhookKind,
  classifierKind,
]
