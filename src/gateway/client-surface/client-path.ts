/** Matches paths under /v1/iceberg/{prefix}/v1 to operations, and decodes and validates their parameters. */

import { Fault } from '../../base/fault.ts'
import { assertName, icebergRoot } from '../base/path.ts'
import { type OperationId, operations } from './operations.ts'

export interface ClientPath {
  readonly operation: OperationId
  readonly prefix: string
  /** [] if the path has none. */
  readonly namespace: readonly string[]
  /** The name of a table, view or function; '' if the path has none. */
  readonly name: string
  /** '' if the path has none. */
  readonly planId: string
}

type ClientPathMatch =
  | { readonly kind: 'matched'; readonly path: ClientPath }
  /** The path exists, but only for these methods. */
  | { readonly kind: 'method-not-allowed'; readonly allow: readonly string[] }

const templates = operations.map(({ id, method, path }) => ({
  id,
  method,
  segments: path.replace('/{prefix}', '').split('/').slice(2),
}))

const planIdPattern = /^(?!\.{1,2}$)[A-Za-z0-9._~-]{1,1024}$/

/** Whether a path belongs to the client surface, not to the literal paths of docs/reference/gateway.md 1.1. */
export function isClientPath(pathname: string): boolean {
  return pathname.startsWith(icebergRoot) && pathname.slice(icebergRoot.length).split('/')[1] === 'v1'
}

/**
 * Matches a request to the client surface.
 * @param pathname a path for which `isClientPath` is true
 * @throws Fault `not_found` for a path without an operation, `bad_request` for a malformed parameter
 */
export function matchClientPath(method: string, pathname: string): ClientPathMatch {
  const [prefix = '', , ...segments] = pathname.slice(icebergRoot.length).split('/')
  const fitting = templates.filter((template) => fits(template.segments, segments))
  if (fitting.length === 0)
    throw new Fault('not_found', 'The path names no operation of the Iceberg REST API.')
  const found = fitting.find((template) => template.method === method)
  if (found === undefined) return { kind: 'method-not-allowed', allow: fitting.map((one) => one.method) }

  const value = (...names: readonly string[]) => {
    const index = found.segments.findIndex((segment) => names.includes(segment))
    return index < 0 ? undefined : decode(segments[index] ?? '')
  }
  const namespace = value('{namespace}')
  const name = value('{table}', '{view}', '{function}')
  const planId = value('{plan-id}')
  assertName('prefix', prefix)
  const levels = namespace === undefined ? [] : namespaceLevels(namespace)
  if (name !== undefined) assertName('name', name)
  if (planId !== undefined && !planIdPattern.test(planId))
    throw new Fault('bad_request', 'The {plan-id} in the path is malformed.')
  return {
    kind: 'matched',
    path: { operation: found.id, prefix, namespace: levels, name: name ?? '', planId: planId ?? '' },
  }
}

/** The same path under an upstream's `/v1/{prefix}`, decoded. */
export function upstreamPath(path: ClientPath): readonly (string | readonly string[])[] {
  const template = templates.find(({ id }) => id === path.operation)
  if (template === undefined) throw new Error('an operation without a template')
  return template.segments.map((segment) => {
    if (segment === '{namespace}') return path.namespace
    if (segment === '{plan-id}') return path.planId
    return segment.startsWith('{') ? path.name : segment
  })
}

/**
 * Splits a namespace of a path or query into its levels, which U+001F joins.
 * @throws Fault `bad_request` if a level is not an identifier
 */
export function namespaceLevels(text: string): readonly string[] {
  const levels = text.split('\u001f')
  for (const level of levels) assertName('namespace', level)
  return levels
}

function fits(template: readonly string[], segments: readonly string[]): boolean {
  return (
    template.length === segments.length &&
    template.every((segment, i) => segment.startsWith('{') || segment === segments[i])
  )
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new Fault('bad_request', 'A path segment is not valid percent-encoded UTF-8.')
  }
}
