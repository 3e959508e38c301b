/** The operations that the administration commands run, by name. They are declared once, for REST and for here. */

import { adminOperations } from '../auth/administration/admin-operations.ts'
import { exportOperations } from '../auth/administration/export-operations.ts'
import { graphOperations } from '../auth/administration/graph-operations.ts'
import { holdOperations } from '../auth/administration/hold-operations.ts'
import { keyOperations } from '../auth/administration/key-operations.ts'
import { monthOperations } from '../auth/administration/month-operations.ts'
import { ownOperations } from '../auth/administration/own-operations.ts'
import { removalOperations } from '../auth/administration/removal-operations.ts'
import { retentionOperations } from '../auth/administration/retention-operations.ts'
import { workloadTrustOperations } from '../auth/workload/operations.ts'
import { checkRunOperations } from '../contract/checks/operations.ts'
import { sourceOperations } from '../contract/reconcile/source-operations.ts'
import { tagHistoryOperations } from '../contract/tag-history-operations.ts'
import type { Operation } from '../core/operation.ts'
import { writeOversightOperations } from '../gateway/oversight/operations.ts'
import { refusalOperations } from '../gateway/refusals/operations.ts'
import { replayOperations } from '../gateway/replay/operations.ts'
import { territoryOperations } from '../gateway/territory/operations.ts'
import { vendingOperations } from '../gateway/vending/operations.ts'
import { stagedOperations } from '../gateway/vending/staged-operations.ts'
import { catalogTrialOperations } from '../gateway/vending/try-catalog-operation.ts'
import { namespaceOperations } from '../lineage/namespace-operations.ts'
import { lineageOperations } from '../lineage/operations.ts'
import { reachOperations } from '../lineage/reach-operations.ts'
import { retirementOperations } from '../lineage/retirement-operations.ts'
import { readersOperations } from '../query/readers/operation.ts'
import { readOperations } from '../query/usage/read-operations.ts'
import { glossaryOperations } from '../semantics/glossary-operations.ts'
import { interchangeOperations } from '../semantics/interchange/operations.ts'
import { webhookSubscriptionOperations } from '../webhook/operations.ts'
import { findsOperation } from './find-operation.ts'

const all = [
  ...adminOperations,
  ...ownOperations,
  ...workloadTrustOperations,
  ...graphOperations,
  ...retentionOperations,
  ...holdOperations,
  ...monthOperations,
  ...removalOperations,
  ...exportOperations,
  ...keyOperations,
  ...refusalOperations,
  ...writeOversightOperations,
  ...replayOperations,
  ...territoryOperations,
  ...vendingOperations,
  ...stagedOperations,
  ...catalogTrialOperations,
  ...tagHistoryOperations,
  ...webhookSubscriptionOperations,
  ...sourceOperations,
  ...namespaceOperations,
  ...retirementOperations,
  ...lineageOperations,
  ...reachOperations,
  ...checkRunOperations,
  ...readOperations,
  ...readersOperations,
  ...interchangeOperations,
  ...glossaryOperations,
] as readonly Operation[]

/** The operation of this name. @throws Error where a command names one that is not declared */
export const operationNamed = findsOperation(all)
