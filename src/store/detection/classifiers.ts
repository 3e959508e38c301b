/**
 * Stores a tenant's custom classifiers (docs/reference/detection.md 4.5). A definition counts in scans once it was tried
 * and activated; the one that counts stays in force while it is changed.
 */

import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import { type ActiveClassifier, type ClassifierDefinition, classifierLimits } from '../../core/classifier.ts'
import type { TenantId } from '../../core/tenant.ts'
import { type AdministrationChange, recordAdministration } from '../administration/administration-log.ts'
import { storableJson } from '../database/names.ts'
import { type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Store } from '../store.ts'

export interface StoredClassifier {
  readonly name: string
  readonly definition: ClassifierDefinition
  /** Raised with each change of the definition. */
  readonly revision: number
  /** Whether this revision was tried on a sample. */
  readonly isTried: boolean
  /** The revision that counts in scans; undefined for a draft. */
  readonly activeRevision: number | undefined
  readonly createdAt: Date
  readonly updatedAt: Date
}

interface Row {
  readonly name: string
  readonly definition: ClassifierDefinition
  readonly revision: number
  readonly tried_revision: number | null
  readonly active_revision: number | null
  readonly created_at: Date
  readonly updated_at: Date
}

const columns = 'name, definition, revision, tried_revision, active_revision, created_at, updated_at'

function toClassifier(row: Row): StoredClassifier {
  return {
    name: row.name,
    definition: row.definition,
    revision: row.revision,
    isTried: row.tried_revision === row.revision,
    activeRevision: row.active_revision ?? undefined,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

const unknown = () => new Fault('not_found', 'There is no such classifier.')

/** The definition as the administration log shows it: allowed values may be anybody's, so only their number. */
function logged({ allow, ...definition }: ClassifierDefinition) {
  return {
    ...definition,
    ...(allow !== undefined && {
      allow: allow.map(({ values, ...place }) => ({
        ...place,
        ...(values !== undefined && { values: values.length }),
      })),
    }),
  }
}

/** What the log says of a new or changed definition. */
const put = (name: string, definition: ClassifierDefinition) =>
  ({ action: 'put-classifier', subject: { classifier: name }, value: logged(definition) }) as const

/** Changes one classifier in a transaction with its row in the log. Undefined where no row is changed. */
async function changeOne(
  store: Store,
  tenant: TenantId,
  by: Actor,
  change: Pick<AdministrationChange, 'action' | 'subject' | 'value'>,
  text: string,
  params: readonly (string | number)[],
): Promise<StoredClassifier | undefined> {
  return await store.tenantTransaction(tenant, async (tx) => {
    const [row] = await tx.query<Row>(`${text} returning ${columns}`, [tenant, ...params])
    if (row === undefined) return undefined
    await recordAdministration(tx, by, change)
    return toClassifier(row)
  })
}

/** Adds a draft. @throws Fault `conflict` where there is one of this name, or too many */
export async function addClassifier(
  store: Store,
  tenant: TenantId,
  name: string,
  definition: ClassifierDefinition,
  by: Actor,
): Promise<StoredClassifier> {
  const added = await changeOne(
    store,
    tenant,
    by,
    put(name, definition),
    `insert into svc.detection_classifier (tenant_id, name, definition)
     select $1, $2, $3::text::jsonb
     where (select count(*) from svc.detection_classifier where tenant_id = $1) < $4::int
     on conflict do nothing`,
    [name, storableJson(definition), classifierLimits.countMax],
  )
  if (added !== undefined) return added
  throw new Fault(
    'conflict',
    `There is a classifier of this name, or ${classifierLimits.countMax} of them already.`,
  )
}

/** Replaces a definition. What is active stays so until the new one is activated. @throws Fault `not_found` */
export async function changeClassifier(
  store: Store,
  tenant: TenantId,
  name: string,
  definition: ClassifierDefinition,
  by: Actor,
): Promise<StoredClassifier> {
  const changed = await changeOne(
    store,
    tenant,
    by,
    put(name, definition),
    `update svc.detection_classifier set definition = $3::text::jsonb, revision = revision + 1,
       updated_at = clock_timestamp()
     where tenant_id = $1 and name = $2`,
    [name, storableJson(definition)],
  )
  if (changed === undefined) throw unknown()
  return changed
}

/** Removes a classifier. Its findings stay. @throws Fault `not_found` */
export async function removeClassifier(
  store: Store,
  tenant: TenantId,
  name: string,
  by: Actor,
): Promise<void> {
  const change = { action: 'delete-classifier', subject: { classifier: name } } as const
  const text = 'delete from svc.detection_classifier where tenant_id = $1 and name = $2'
  if ((await changeOne(store, tenant, by, change, text, [name])) === undefined) throw unknown()
}

/** Notes that a revision was tried. A later one is not affected. */
export async function noteTrial(
  store: Store,
  tenant: TenantId,
  { name, revision }: Pick<StoredClassifier, 'name' | 'revision'>,
  by: Actor,
): Promise<void> {
  const change = {
    action: 'try-classifier',
    subject: { classifier: name },
    value: { revision },
  } as const
  await changeOne(
    store,
    tenant,
    by,
    change,
    `update svc.detection_classifier set tried_revision = greatest(tried_revision, $3::int)
     where tenant_id = $1 and name = $2 and revision >= $3::int`,
    [name, revision],
  )
}

/** Lets the definition count in scans. @throws Fault `not_found`; `conflict` where this revision was not tried */
export async function activateClassifier(
  store: Store,
  tenant: TenantId,
  name: string,
  by: Actor,
): Promise<StoredClassifier> {
  const { revision } = await findClassifier(store, tenant, name)
  const activated = await changeOne(
    store,
    tenant,
    by,
    { action: 'activate-classifier', subject: { classifier: name }, value: { revision } },
    `update svc.detection_classifier set active = definition, active_revision = revision, updated_at = clock_timestamp()
     where tenant_id = $1 and name = $2 and revision = $3::int and tried_revision = revision`,
    [name, revision],
  )
  if (activated !== undefined) return activated
  throw new Fault('conflict', 'The definition was not tried since its last change. Try it on a sample first.')
}

/** Makes an active classifier a draft again. @throws Fault `not_found` */
export async function deactivateClassifier(
  store: Store,
  tenant: TenantId,
  name: string,
  by: Actor,
): Promise<StoredClassifier> {
  const deactivated = await changeOne(
    store,
    tenant,
    by,
    { action: 'deactivate-classifier', subject: { classifier: name } },
    `update svc.detection_classifier set active = null, active_revision = null, updated_at = clock_timestamp()
     where tenant_id = $1 and name = $2`,
    [name],
  )
  if (deactivated === undefined) throw unknown()
  return deactivated
}

/** One classifier. @throws Fault `not_found` */
export async function findClassifier(
  store: Store,
  tenant: TenantId,
  name: string,
): Promise<StoredClassifier> {
  const [row] = await store.tenantQuery<Row>(
    tenant,
    `select ${columns} from svc.detection_classifier where tenant_id = $1 and name = $2`,
    [tenant, name],
    { readOnly: true },
  )
  if (row === undefined) throw unknown()
  return toClassifier(row)
}

/** A tenant's classifiers, by name. */
export async function listClassifiers(
  store: Store,
  tenant: TenantId,
  page: PageRequest = {},
): Promise<Page<StoredClassifier>> {
  const limit = pageLimit(page)
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select ${columns} from svc.detection_classifier where tenant_id = $1 and name collate "C" > $2
     order by name collate "C" limit $3::int`,
    [tenant, page.after ?? '', limit + 1],
    { readOnly: true },
  )
  const listed = toPage(rows, limit, (row) => row.name)
  return { ...listed, items: listed.items.map(toClassifier) }
}

/** What counts in the tenant's scans. */
export async function activeClassifiers(
  store: Store,
  tenant: TenantId,
): Promise<readonly ActiveClassifier[]> {
  return await store.tenantQuery<ActiveClassifier>(
    tenant,
    `select name, active as definition from svc.detection_classifier
     where tenant_id = $1 and active is not null order by name collate "C"`,
    [tenant],
    { readOnly: true },
  )
}
