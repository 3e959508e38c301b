/** Catalogs, policies of commits and service sessions, as settings that are kept in files. */

import { catalogKindDescriptors, type LiveCatalogKind } from '../../core/catalog-kinds.ts'
import type { CatalogSettings } from '../../core/catalog-settings.ts'
import { nameCaseFound } from '../../core/name-case.ts'
import { serviceSubject } from '../../core/principal.ts'
import { sessionScopes } from '../../core/session.ts'
import { describedBody } from './described-body.ts'
import type { Found, Kind, Plain, Step } from './kind.ts'

/** Members of config_json that the service shows: all others are sealed and cannot be compared. */
function shownConfig(kind: unknown, config: Plain): Plain {
  const settings: CatalogSettings = catalogKindDescriptors[kind as LiveCatalogKind]?.settings ?? {}
  const isShown = (name: string) => settings[name]?.shown === true && name !== nameCaseFound
  return Object.fromEntries(Object.entries(config).filter(([name]) => isShown(name)))
}

/** Members of config_json that are sealed, and that the file does not take from the environment. */
function hiddenConfig(kind: unknown, config: Plain): readonly string[] {
  const shown = shownConfig(kind, config)
  return Object.keys(config).filter((name) => !(name in shown) && name !== nameCaseFound)
}

interface ListedCatalog {
  readonly nickname: string
  readonly catalog_kind: string
  readonly endpoint: string
  readonly config_json: Plain
}

export const catalogKind: Kind = {
  ...{ at: ['catalogs'], sides: ['tenant'] },
  entry: describedBody('put_catalog', ['tenant', 'nickname']),
  find: async (ask) =>
    (await ask.every<ListedCatalog>('list_catalogs')).map(
      ({ nickname: name, catalog_kind: kind, endpoint, config_json: config }) => ({
        name,
        value: { catalog_kind: kind, endpoint, config_json: shownConfig(kind, config) },
      }),
    ),
  wanted: (_, { catalog_kind: kind, endpoint, config_json: config }) => ({
    ...{ catalog_kind: kind, endpoint },
    config_json: shownConfig(kind, config as Plain),
  }),
  put: (nickname, said) => [
    { operation: 'try_catalog', input: { nickname, ...said }, problem: catalogProblem },
    { operation: 'put_catalog', input: { nickname, ...said } },
  ],
  remove: ({ name: nickname }) => [{ operation: 'remove_catalog', input: { nickname } }],
  hidden: ({ catalog_kind: kind, config_json: config }) => hiddenConfig(kind, config as Plain),
  refuses({ catalog_kind: kind, config_json: config }) {
    const shown = shownConfig(kind, config as Plain)
    const literal = Object.entries(config as Plain).find(
      ([name, value]) => !(name in shown) && isText(value) && mayBeSecret.test(name),
    )
    return literal === undefined
      ? undefined
      : `\`config_json.${literal[0]}\` is a secret, which does not belong into a file: write {from_env: NAME}, and set that variable where the folder is applied`
  },
}

const isText = (value: unknown) => typeof value === 'string'
/** Of the members that are not shown, others than these are no secrets by themselves. */
const mayBeSecret = /^(?:credential|client_secret|token|header\..*)$|secret|password|token$|key$/

function catalogProblem(output: unknown): string | undefined {
  const { works, steps } = output as {
    readonly works: boolean
    readonly steps: readonly { readonly step: string; readonly outcome: string; readonly text: string }[]
  }
  if (works) return undefined
  const failed = steps.filter(({ outcome }) => outcome === 'failed')
  return [
    'The catalog was not stored, because it does not work.',
    ...failed.map(({ step, text }) => `${step}: ${text}`),
  ].join('\n')
}

const scopeNames = ['table', 'namespace', 'tag']
const bound = describedBody('put_policy', ['id', 'kind', 'mode', 'name', 'message', 'definition_cel'])
const policyEntry = describedBody('put_policy', ['id', ...scopeNames])

interface ShownPolicy {
  readonly id: string
  readonly scopes: readonly Plain[]
  readonly derived?: unknown
}

/** The order in which a policy was bound is no difference. */
const inOrder = (scopes: readonly Plain[]) =>
  scopes.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
const sameScope = (a: Plain, b: Plain) => JSON.stringify(a) === JSON.stringify(b)

/** A scope with its members in one order. */
function scopeIn(given: Plain): Plain {
  const { table, namespace, tag } = given as {
    readonly table?: { readonly namespace: readonly string[]; readonly name: string }
    readonly namespace?: readonly string[]
    readonly tag?: string
  }
  return {
    ...(table && { table: { namespace: table.namespace, name: table.name } }),
    ...(namespace && { namespace }),
    ...(tag !== undefined && { tag }),
  }
}

export const policyKind: Kind = {
  ...{ at: ['policies'], sides: ['own', 'tenant'] },
  entry: {
    type: 'object',
    properties: { ...policyEntry.properties, governs: { type: 'array', items: bound, minItems: 1 } },
    required: [...(policyEntry.required ?? []), 'governs'],
  },
  async find(ask) {
    const found: Found[] = []
    for (const { id, derived } of await ask.every<ShownPolicy>('list_policies')) {
      // What follows from a contract changes with the contract.
      if (derived !== undefined) continue
      const shown = (await ask.run('get_policy', { id })) as ShownPolicy & Plain
      const { kind, mode, name, message, definition_cel, scopes } = shown
      const governs = inOrder(scopes.map(scopeIn))
      found.push({ name: id, value: { kind, mode, name, message, definition_cel, governs } })
    }
    return found
  },
  wanted: (id, { mode = 'enforce', name = id, message = '', governs, ...said }) => ({
    ...{ mode, name, message, ...said },
    governs: inOrder((governs as readonly Plain[]).map(scopeIn)),
  }),
  put(id, { governs, ...said }, found) {
    const wanted = (governs as readonly Plain[]).map(scopeIn)
    const before = (found?.value.governs ?? []) as readonly Plain[]
    const ended = before.filter((one) => !wanted.some((other) => sameScope(one, other)))
    return [
      ...wanted.map((scope): Step => ({ operation: 'put_policy', input: { id, ...said, ...scope } })),
      ...ended.map((scope): Step => ({ operation: 'unbind_policy', input: { id, ...scope } })),
    ]
  },
  remove: ({ name: id }) => [{ operation: 'delete_policy', input: { id } }],
}

interface ListedSession {
  readonly id: string
  readonly name?: string
  readonly principal: { readonly sub: string; readonly roles: readonly string[] }
  readonly scopes: readonly string[]
  readonly expires_at?: string
  readonly state: string
  readonly exchanged?: boolean
}

export const sessionKind: Kind = {
  ...{ at: ['sessions'], sides: ['own', 'tenant'], showsSecret: true },
  entry: describedBody('mint_session', ['tenant', 'name']),
  async find(ask) {
    const listed = await ask.every<ListedSession>('list_own_sessions', { kind: 'service' })
    const { session_id: own } = (await ask.run('get_own_session')) as { readonly session_id: string }
    const now = Date.now()
    // One that a workload exchanged its token for is nobody's to keep.
    const isLive = ({ state, expires_at: end, exchanged }: ListedSession) =>
      exchanged !== true && state === 'active' && (end === undefined || Date.parse(end) > now)
    return listed.filter(isLive).map(({ id, name = '', principal, scopes, expires_at: end }) => ({
      name,
      key: { session: id },
      ...(id === own && { stays: 'It is the session of this run and stays' }),
      value: {
        ...{ sub: principal.sub, roles: principal.roles.toSorted(), scopes: inScopeOrder(scopes) },
        ...(end !== undefined && { expires_at: new Date(end).toISOString() }),
      },
    }))
  },
  wanted: (name, { sub = name, roles = [], scopes, expires_at: end }) => ({
    sub: serviceSubject(String(sub)),
    ...{ roles: (roles as readonly string[]).toSorted(), scopes: inScopeOrder(scopes as readonly string[]) },
    ...(end !== undefined && { expires_at: new Date(String(end)).toISOString() }),
  }),
  put: (name, said) => [{ operation: 'mint_own_session', input: { name, ...said } }],
  remove: ({ key }) => [{ operation: 'end_own_session', input: { ...key } }],
  unchangeable:
    'A session is not changed: give the new one another name, and remove this one with --prune-settings',
  over: ({ expires_at: end }) =>
    end !== undefined && Date.parse(String(end)) <= Date.now() ? 'Its time is over' : undefined,
}

const inScopeOrder = (scopes: readonly string[]) => sessionScopes.filter((scope) => scopes.includes(scope))
