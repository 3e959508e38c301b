/** docs/sql.md lists exactly what the registries hold. */

import { expect, test } from 'bun:test'
import type { Template } from '../../../../src/query/compile/base/function-definition.ts'
import { aggregates, windowFunctions } from '../../../../src/query/compile/functions/aggregates.ts'
import { operators } from '../../../../src/query/compile/functions/operators.ts'
import { functions } from '../../../../src/query/compile/functions/registry.ts'
import { setFunctions } from '../../../../src/query/compile/functions/sets.ts'

/** The two to which all others are reduced are not in the registry. */
const plain = { trino: '' }
const rowFunctions = new Map<string, readonly { trino: Template }[]>([
  ...setFunctions,
  ['generate_series', [plain]],
  ['unnest', [plain]],
])

const page = await Bun.file(new URL('../../../../docs/sql.md', import.meta.url)).text()

test.each([
  ['Scalar', functions],
  ['Aggregates', aggregates],
  ['Window functions', windowFunctions],
  ['Functions that return rows', rowFunctions],
  ['Operators', operators],
] as const)(
  '%s are listed as they are',
  (heading, registry: ReadonlyMap<string, readonly { trino: Template }[]>) => {
    const line = page.split('\n').find((each) => each.startsWith(`${heading}: `)) ?? ''
    const listed = [...line.matchAll(/`([^`]+)`(¹?)/g)].map(([, name = '', mark]) => `${name}${mark}`)
    const held = [...registry].map(
      ([name, defs]) => `${name}${defs.every(({ trino }) => trino === null) ? '¹' : ''}`,
    )
    const ignored = heading === 'Window functions' ? ['WITHIN GROUP'] : []
    expect(listed.filter((name) => !ignored.includes(name)).sort()).toEqual(held.sort())
  },
)
