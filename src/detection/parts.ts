/** The dependencies that detection shares; app.ts assembles them. */

import type { Logger } from 'pino'
import type { RightOfWay } from '../base/right-of-way.ts'
import type { AddressRules } from '../catalog/address.ts'
import type { OpenCatalogs } from '../catalog/open-catalog.ts'
import type { ProtectedForm } from '../core/protected-form.ts'
import type { TableRef } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import type { Store } from '../store/store.ts'
import type { Metrics } from '../telemetry/metrics.ts'

export interface DetectionParts {
  readonly store: Store
  readonly catalogs: OpenCatalogs
  readonly metrics: Metrics
  readonly log: Logger
  /** Addresses at which storage endpoints may be. */
  readonly addressRules: AddressRules
  /** The commits in progress, for which detection waits. */
  readonly commits: RightOfWay
  /** What values of a table's protected columns look like; without it nothing is compared with that. */
  readonly protectedForms?: (tenant: TenantId, table: TableRef) => Promise<readonly ProtectedForm[]>
}
