/** What the write gateway offers beside its two surfaces: oversight, territory, replays, vending, and their jobs. */

import type { AddressRules } from '../catalog/address.ts'
import { bind } from '../http/declare.ts'
import type { Feature } from '../http/feature.ts'
import { eachTenant } from '../store/tenant/tenants.ts'
import { forgetVended } from '../store/vended/vended-credentials.ts'
import type { GatewayParts } from './base/parts.ts'
import { writeOversightOperations } from './oversight/operations.ts'
import { recoverIntents } from './recovery/recover-intents.ts'
import { refusalOperations } from './refusals/operations.ts'
import { advanceReplays, type ReplayParts } from './replay/advance-replays.ts'
import { replayOperations } from './replay/operations.ts'
import { tryOperations } from './replay/try-operation.ts'
import { auditManifests } from './territory/audit-manifests.ts'
import { territoryOperations } from './territory/operations.ts'
import { sweepTerritories } from './territory/sweep.ts'
import { checkStaged } from './vending/check-staged.ts'
import { vendingOperations } from './vending/operations.ts'
import { stagedOperations } from './vending/staged-operations.ts'
import { catalogTrialOperations } from './vending/try-catalog-operation.ts'

interface GatewayNeeds extends Pick<ReplayParts, 'replayWorker'> {
  readonly gateway: GatewayParts
  readonly addressRules: AddressRules
  /** Begins with a replay that was just started. */
  readonly wakeReplays: () => void
}

/** The write gateway's own operations and jobs. @param needs its parts, and what it takes of the service */
export function gatewayFeature({ gateway, replayWorker, addressRules, wakeReplays }: GatewayNeeds): Feature {
  const { store, metrics } = gateway
  return {
    operations: [
      ...bind([...refusalOperations, ...writeOversightOperations, ...territoryOperations], gateway),
      ...bind(replayOperations, { store, wakeReplays }),
      ...bind(tryOperations, { ...gateway, replayWorker }),
      ...bind(vendingOperations, { ...gateway, addressRules }),
      ...bind(stagedOperations, { ...gateway, addressRules }),
      ...bind(catalogTrialOperations, { ...gateway, addressRules }),
    ],
    jobs: [
      {
        name: 'recover-intents',
        schedule: '*/10 * * * * *',
        run: async (signal) => void (await recoverIntents(gateway, signal)),
        gauge: metrics.commitIntents,
      },
      {
        name: 'forget-credentials',
        schedule: '41 3 * * *',
        async run(signal) {
          for await (const tenant of eachTenant(store, signal)) await forgetVended(store, tenant)
        },
      },
      {
        name: 'check-staged',
        schedule: '*/10 * * * *',
        run: (signal) => checkStaged({ ...gateway, addressRules }, signal),
      },
      {
        name: 'sweep-territory',
        schedule: '* * * * *',
        run: (signal) => sweepTerritories(gateway, signal),
      },
      {
        name: 'audit-manifests',
        schedule: '*/10 * * * * *',
        run: (signal) => auditManifests(gateway, signal),
        gauge: metrics.manifestChecksPending,
      },
      {
        name: 'replay-policies',
        schedule: '*/30 * * * * *',
        run: (signal) => advanceReplays({ ...gateway, replayWorker }, signal),
      },
    ],
  }
}
