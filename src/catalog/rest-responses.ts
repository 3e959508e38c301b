/** Reads the successful replies of an Iceberg REST catalog. An unreadable reply is `upstream_failed`. */

import { Fault } from '../base/fault.ts'
import { type JsonObject, type JsonValue, parseJson } from '../base/json.ts'
import { isPathIdentifier, type TableRef } from '../core/table-ref.ts'
import { type LoadTableResult, readLoadTableResult } from '../wire/iceberg/table-metadata.ts'
import type { TablePage } from './catalog.ts'

function unreadable(what: string, cause?: unknown): Fault {
  return new Fault('upstream_failed', `The upstream catalog answered 200 with a body that is no ${what}.`, {
    cause,
  })
}

/**
 * Reads a LoadTableResult.
 * @throws Fault `upstream_failed`
 */
export async function readResult(body: Uint8Array): Promise<LoadTableResult> {
  try {
    return await readLoadTableResult(body)
  } catch (cause) {
    throw unreadable('LoadTableResult', cause)
  }
}

function parseObject(body: Uint8Array, what: string): JsonObject {
  let value: JsonValue
  try {
    value = parseJson(body)
  } catch (cause) {
    throw unreadable(what, cause)
  }
  if (!(value instanceof Map)) throw unreadable(what)
  return value
}

/** U+001F, the separator of the Iceberg REST specification where a catalog names no other. */
export const defaultSeparator = '%1F'
/** One encoded character that no name contains and that ends no path segment. */
const separatorPattern = /^%(?:1[Ff]|2[EeCcBb]|3[AaBbDd]|40|7[Ee])$/

/** The parts of an upstream's ConfigResponse that are used; all else is ignored. */
export interface UpstreamConfig {
  readonly prefix: string | undefined
  /** Separates the levels of a namespace in a path, encoded as the upstream sent it. */
  readonly namespaceSeparator: string
  /** `METHOD /v1/{prefix}/…` of each operation; undefined where the upstream does not say. */
  readonly endpoints: readonly string[] | undefined
}

/**
 * Reads a ConfigResponse; overrides win over defaults.
 * @throws Fault `upstream_failed`
 */
export function parseConfigResponse(body: Uint8Array): UpstreamConfig {
  const config = parseObject(body, 'ConfigResponse')
  const property = (key: string): string | undefined =>
    ['overrides', 'defaults']
      .map((name) => {
        const properties = config.get(name)
        return properties instanceof Map ? properties.get(key) : undefined
      })
      .find((value) => typeof value === 'string')
  const namespaceSeparator = property('namespace-separator') ?? defaultSeparator
  if (!separatorPattern.test(namespaceSeparator)) throw unreadable('ConfigResponse')
  const endpoints = config.get('endpoints')
  return {
    prefix: property('prefix'),
    namespaceSeparator,
    endpoints: Array.isArray(endpoints)
      ? endpoints.filter((endpoint) => typeof endpoint === 'string')
      : undefined,
  }
}

/**
 * Reads a ListTablesResponse. Tables whose names the product cannot address stand apart.
 * @throws Fault `upstream_failed`
 */
export function parseTablePage(body: Uint8Array): TablePage {
  const page = parseObject(body, 'ListTablesResponse')
  const identifiers = page.get('identifiers') ?? []
  if (!Array.isArray(identifiers)) throw unreadable('ListTablesResponse')
  const tables: TableRef[] = []
  const unusable: (readonly string[])[] = []
  for (const identifier of identifiers as readonly JsonValue[]) {
    const namespace = identifier instanceof Map ? identifier.get('namespace') : undefined
    const name = identifier instanceof Map ? identifier.get('name') : undefined
    if (!Array.isArray(namespace) || typeof name !== 'string') throw unreadable('ListTablesResponse')
    const levels = namespace as readonly JsonValue[]
    if (
      isPathIdentifier(name) &&
      levels.every((level) => typeof level === 'string' && isPathIdentifier(level))
    )
      tables.push({ namespace: levels as readonly string[], name })
    else unusable.push([...levels.map(String), name])
  }
  const token = page.get('next-page-token')
  return {
    identifiers: tables,
    ...(unusable.length > 0 && { unusable }),
    ...(typeof token === 'string' && token !== '' ? { nextPageToken: token } : {}),
  }
}

/**
 * The metadata files that the reply to a transaction names, one for each table in their order. Never throws, because the
 * transaction was made: a reply in another form names none.
 */
export function filesOfTransaction(reply: JsonObject, tables: number): readonly (string | undefined)[] {
  const results = reply.get('results')
  if (!Array.isArray(results) || results.length !== tables) return []
  return (results as readonly JsonValue[]).map((result) => {
    if (!(result instanceof Map)) return undefined
    const file = result.get('new-metadata-location') ?? result.get('metadata-location')
    return typeof file === 'string' ? file : undefined
  })
}
