/** Holds the tables of docs/reference/visibility.md against what is declared. `RECORD=1` writes them. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type GivesOfTables, sights, silences } from '../../src/core/gives.ts'
import { fieldGives } from '../../src/server/graphql/gives.ts'
import { makeSchema } from '../../src/server/graphql/schema.ts'
import { tools } from '../../src/server/mcp/tools.ts'
import { catalogRelations } from '../../src/server/pgwire/catalog/allowed-names.ts'
import type { DescribedOperation } from '../../src/server/rest/describe.ts'
import { catalogGives } from '../support/catalog-gives.ts'
import { call, type IdentityService, startIdentityService } from '../support/identity.ts'

const page = new URL('../../docs/reference/visibility.md', import.meta.url)

let service: IdentityService
beforeAll(async () => {
  service = await startIdentityService()
})
afterAll(() => service[Symbol.asyncDispose]())

const words = (names: readonly string[] = []) => names.map((name) => `\`${name}\``).join(', ')

function row(name: string, gives: Exclude<GivesOfTables, { nothing: unknown }>): string {
  const to = gives.overseers === undefined ? '' : ` (${gives.overseers.join(', ')})`
  const own = gives.own === undefined ? '' : `${words(gives.own)} (own)`
  return `| \`${name}\` | ${words(gives.visible)}${own} | ${words(gives.overseen)}${to} |`
}

/** A table of what is told, and below it a line for each reason to tell nothing. */
function written(head: string, all: readonly (readonly [string, GivesOfTables])[]): string {
  const told = all.flatMap(([name, gives]) => ('nothing' in gives ? [] : [row(name, gives)]))
  const silent = Object.keys(silences).flatMap((reason) => {
    const names = all.flatMap(([name, gives]) =>
      'nothing' in gives && gives.nothing === reason ? [name] : [],
    )
    return names.length === 0 ? [] : [`- \`${reason}\`: ${words(names)}`]
  })
  const table = told.length === 0 ? [] : [`| ${head} | Visible | Overseen |`, '|---|---|---|', ...told, '']
  return [...table, ...silent, ...(silent.length > 0 ? [''] : [])].join('\n')
}

async function holds(place: string, text: string): Promise<void> {
  const now = await Bun.file(page).text()
  const whole = new RegExp(`(<!-- ${place} -->\n)[^]*?(<!-- end -->)`)
  expect(now).toMatch(whole)
  const next = now.replace(whole, (_, start: string, end: string) => `${start}\n${text}\n${end}`)
  if (process.env.RECORD === '1') await Bun.write(page, next)
  else expect(now).toBe(next)
}

test('names every word and every reason', async () => {
  const text = await Bun.file(page).text()
  for (const word of sights) expect(text).toContain(`| \`${word}\` |`)
  for (const [reason, meaning] of Object.entries(silences))
    expect(text).toContain(`| \`${reason}\` | ${meaning} |`)
})

test('says what each operation gives', async () => {
  const { paths } = (await (await call(service, 'GET', '/api/v1/openapi.json')).json()) as {
    paths: Record<string, Record<string, DescribedOperation>>
  }
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    /^\/admin\/tenants\/\{tenant\}\//.test(path)
      ? []
      : Object.values(methods).map((one) => [one.operationId, one['x-gives']] as const),
  )
  expect(all.length).toBeGreaterThan(150)
  await holds(
    'operations',
    written(
      'Operation',
      all.toSorted(([a], [b]) => a.localeCompare(b)),
    ),
  )
})

test('says the same of both operations of a pair', async () => {
  const { paths } = (await (await call(service, 'GET', '/api/v1/openapi.json')).json()) as {
    paths: Record<string, Record<string, DescribedOperation>>
  }
  for (const [path, methods] of Object.entries(paths))
    for (const [method, one] of Object.entries(methods)) {
      const own = paths[path.replace('/admin/tenants/{tenant}', '/api/v1')]?.[method]
      if (own !== undefined) expect([path, one['x-gives']]).toEqual([path, own['x-gives']])
    }
})

test('says what each field of GraphQL gives, and knows each', async () => {
  await holds(
    'graphql',
    written(
      'Field',
      fieldGives(makeSchema()).toSorted(([a], [b]) => a.localeCompare(b)),
    ),
  )
})

test('says what each tool of MCP gives', async () => {
  await holds(
    'mcp',
    written(
      'Tool',
      tools.map(({ name, gives }) => [name, gives] as const),
    ),
  )
})

test('says what each relation of pg_catalog and information_schema gives, and knows each of pg_catalog', async () => {
  expect(Object.keys(catalogGives.pg_catalog).toSorted()).toEqual([...catalogRelations].toSorted())
  const all = Object.entries(catalogGives).flatMap(([schema, relations]) =>
    Object.entries(relations).flatMap(([name, gives]) =>
      gives === undefined ? [] : [[`${schema}.${name}`, gives] as const],
    ),
  )
  await holds('catalogs', written('Relation', all))
})
