/**
 * The requests of SCIM on users and groups (RFC 7644, 3): create, read, list, replace, patch, delete. What they mean for
 * access is decided in the store, in the transaction of the change.
 */

import type { Caller } from '../../core/operation.ts'
import type { TenantId } from '../../core/tenant.ts'
import {
  changeScimGroup,
  createScimGroup,
  deleteScimGroup,
  type GroupAttributes,
  type ScimGroup,
} from '../../store/session/scim-groups.ts'
import {
  findScimGroup,
  findScimUser,
  groupsOfUsers,
  listScimGroups,
  listScimUsers,
  membersOfGroups,
} from '../../store/session/scim-lists.ts'
import {
  changeScimUser,
  createScimUser,
  deleteScimUser,
  type ScimUser,
} from '../../store/session/scim-users.ts'
import type { Store } from '../../store/store.ts'
import { memberIds, splitMembers } from '../../wire/scim/group-patch.ts'
import { matches, mentions, type ScimObject } from '../../wire/scim/match.ts'
import { membersNamed } from '../../wire/scim/member-filter.ts'
import { applyPatch, readPatch } from '../../wire/scim/patch.ts'
import { type Projection, project, shows } from '../../wire/scim/project.ts'
import { readResource } from '../../wire/scim/read-resource.ts'
import { groups, type ResourceSchema, users } from '../../wire/scim/schemas.ts'
import { scimFault } from '../../wire/scim/scim-fault.ts'
import {
  entityTag,
  expectedBy,
  isNamed,
  type ListRequest,
  listResponse,
  readShown,
  scimResponse,
} from './respond.ts'

/** One request, whose caller is admitted. */
export interface ScimRequest {
  readonly store: Store
  readonly tenant: TenantId
  readonly caller: Caller
  readonly request: Request
  /** The address of the service's SCIM. */
  readonly root: string
}

/** What can be done with one kind of resource. */
export interface ResourceKind {
  readonly schema: ResourceSchema
  readonly create: (given: ScimRequest, sent: unknown) => Promise<Response>
  readonly list: (given: ScimRequest, asked: ListRequest) => Promise<Response>
  readonly read: (given: ScimRequest, id: string) => Promise<Response>
  readonly replace: (given: ScimRequest, id: string, sent: unknown) => Promise<Response>
  readonly patch: (given: ScimRequest, id: string, sent: unknown) => Promise<Response>
  readonly remove: (given: ScimRequest, id: string) => Promise<Response>
}

const everything: Projection = { kind: 'all' }
/** For a filter that says nothing of groups. */
const nothing: Projection = { kind: 'only', places: [] }

const missing = () => scimFault(404, 'There is no resource of this id.')

/** Users. */
export const userKind: ResourceKind = {
  schema: users,
  create: async (given, sent) => {
    const { store, tenant, caller } = given
    const user = await createScimUser(store, tenant, readResource(users, sent), await caller.actor())
    return await userResponse(given, user, 201)
  },
  list: async (given, asked) => {
    const { store, tenant } = given
    const { filter, projection } = asked
    const isOfGroups = filter !== undefined && mentions(filter, 'groups')
    const view = (some: readonly ScimUser[]) => userViews(given, some, isOfGroups ? everything : nothing)
    const { total, items } = await listScimUsers(store, tenant, {
      ...asked,
      select: async (some) => {
        const views = await view(some)
        return some.filter((_, at) => filter === undefined || matches(filter, views[at] ?? {}))
      },
    })
    const views = await userViews(given, items, projection)
    return listResponse(
      total,
      asked,
      views.map((one) => project(projection, one)),
    )
  },
  read: async (given, id) => {
    const user = await findScimUser(given.store, given.tenant, id)
    if (user === undefined) throw missing()
    return isUnchanged(given.request, users, user) ?? (await userResponse(given, user))
  },
  replace: (given, id, sent) => {
    const read = readResource(users, sent)
    return changeUser(given, id, () => read)
  },
  patch: (given, id, sent) => {
    const operations = readPatch(users, sent)
    return changeUser(given, id, (stored) => applyPatch(users, stored, operations))
  },
  remove: async ({ store, tenant, caller, request }, id) => {
    if (!(await deleteScimUser(store, tenant, id, expectedBy(request), await caller.actor()))) throw missing()
    return new Response(null, { status: 204 })
  },
}

async function changeUser(
  given: ScimRequest,
  id: string,
  change: (stored: ScimObject) => ScimObject,
): Promise<Response> {
  const { store, tenant, caller, request } = given
  const user = await changeScimUser(store, tenant, id, change, expectedBy(request), await caller.actor())
  if (user === undefined) throw missing()
  return await userResponse(given, user)
}

async function userResponse(given: ScimRequest, user: ScimUser, status = 200): Promise<Response> {
  const projection = readShown(users, given.request)
  const [view = {}] = await userViews(given, [user], projection)
  return oneResponse(given, 'Users', user, project(projection, view), status)
}

async function userViews(
  { store, tenant, root }: ScimRequest,
  some: readonly ScimUser[],
  projection: Projection,
): Promise<readonly ScimObject[]> {
  const ids = shows(projection, 'groups') ? some.map(({ id }) => id) : []
  const of = await groupsOfUsers(store, tenant, ids)
  return some.map((user) => {
    const held = of.get(user.id) ?? []
    const extensions = Object.keys(users.extensions).filter((urn) => urn in user.resource)
    return {
      schemas: [users.urn, ...extensions],
      id: user.id,
      ...user.resource,
      ...(held.length > 0 && {
        groups: held.map(({ id, name }) => ({
          value: id,
          $ref: `${root}/Groups/${id}`,
          display: name,
          type: 'direct',
        })),
      }),
      meta: metaOf('User', `${root}/Users/${user.id}`, user),
    }
  })
}

/** Groups. */
export const groupKind: ResourceKind = {
  schema: groups,
  create: async (given, sent) => {
    const { store, tenant, caller } = given
    const read = readResource(groups, sent)
    const members = memberIds(read.members)
    const group = await createScimGroup(store, tenant, attributesOf(read), members, await caller.actor())
    return await groupResponse(given, group, 201)
  },
  list: async (given, asked) => {
    const { store, tenant } = given
    const { filter, projection } = asked
    const named = filter === undefined ? [] : membersNamed(filter)
    const { total, items } = await listScimGroups(store, tenant, {
      ...asked,
      select: async (some) => {
        const views = await groupViews(given, some, everything, named)
        return some.filter((_, at) => filter === undefined || matches(filter, views[at] ?? {}))
      },
    })
    const views = await groupViews(given, items, projection)
    return listResponse(
      total,
      asked,
      views.map((one) => project(projection, one)),
    )
  },
  read: async (given, id) => {
    const group = await findScimGroup(given.store, given.tenant, id)
    if (group === undefined) throw missing()
    return isUnchanged(given.request, groups, group) ?? (await groupResponse(given, group))
  },
  replace: async (given, id, sent) => {
    const read = readResource(groups, sent)
    const members = [{ kind: 'replace', users: memberIds(read.members) }] as const
    return await groupResponse(
      given,
      await changeGroup(given, id, { attributes: () => attributesOf(read), members }),
    )
  },
  patch: async (given, id, sent) => {
    const { changes, others } = splitMembers(readPatch(groups, sent))
    const attributes = (stored: GroupAttributes) => attributesOf(applyPatch(groups, plainOf(stored), others))
    const group = await changeGroup(given, id, { attributes, members: changes })
    // Without a body: a group may have very many members.
    return new Response(null, { status: 204, headers: { etag: entityTag(group.version) } })
  },
  remove: async ({ store, tenant, caller, request }, id) => {
    if (!(await deleteScimGroup(store, tenant, id, expectedBy(request), await caller.actor())))
      throw missing()
    return new Response(null, { status: 204 })
  },
}

async function changeGroup(
  { store, tenant, caller, request }: ScimRequest,
  id: string,
  change: Parameters<typeof changeScimGroup>[3],
): Promise<ScimGroup> {
  const group = await changeScimGroup(store, tenant, id, change, expectedBy(request), await caller.actor())
  if (group === undefined) throw missing()
  return group
}

function attributesOf(read: ScimObject): GroupAttributes {
  const { displayName, externalId } = read
  return {
    displayName: String(displayName),
    externalId: typeof externalId === 'string' ? externalId : undefined,
  }
}

function plainOf({ displayName, externalId }: GroupAttributes): ScimObject {
  return { displayName, ...(externalId !== undefined && { externalId }) }
}

async function groupResponse(given: ScimRequest, group: ScimGroup, status = 200): Promise<Response> {
  const projection = readShown(groups, given.request)
  const [view = {}] = await groupViews(given, [group], projection)
  return oneResponse(given, 'Groups', group, project(projection, view), status)
}

async function groupViews(
  { store, tenant, root }: ScimRequest,
  some: readonly ScimGroup[],
  projection: Projection,
  among?: readonly string[],
): Promise<readonly ScimObject[]> {
  const ids = shows(projection, 'members') ? some.map(({ id }) => id) : []
  const of = await membersOfGroups(store, tenant, ids, among)
  return some.map((group) => {
    const held = of.get(group.id) ?? []
    return {
      schemas: [groups.urn],
      id: group.id,
      ...plainOf(group),
      ...(held.length > 0 && {
        members: held.map(({ id, display }) => ({
          value: id,
          $ref: `${root}/Users/${id}`,
          display,
          type: 'User',
        })),
      }),
      meta: metaOf('Group', `${root}/Groups/${group.id}`, group),
    }
  })
}

interface Versioned {
  readonly version: string
  readonly createdAt: Date
  readonly changedAt: Date
}

function metaOf(resourceType: string, location: string, { version, createdAt, changedAt }: Versioned) {
  return {
    ...{ resourceType, location, version: entityTag(version) },
    ...{ created: createdAt.toISOString(), lastModified: changedAt.toISOString() },
  }
}

function oneResponse(
  { root }: ScimRequest,
  path: string,
  { id, version }: { readonly id: string; readonly version: string },
  body: object,
  status: number,
): Response {
  return scimResponse(body, status, { location: `${root}/${path}/${id}`, etag: entityTag(version) })
}

/**
 * The answer to a client that has the version already. None where what it asked for shows who is in which group: that
 * changes also with the other side, and the version does not.
 */
function isUnchanged(request: Request, schema: ResourceSchema, { version }: Versioned): Response | undefined {
  const had = request.headers.get('if-none-match')
  if (had === null || !isNamed(had, version)) return undefined
  const membership = schema === users ? 'groups' : 'members'
  if (shows(readShown(schema, request), membership)) return undefined
  return new Response(null, { status: 304, headers: { etag: entityTag(version) } })
}
