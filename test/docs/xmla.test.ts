/** Runs the commands of the page on XMLA, as a reader pastes them. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rowsetNames } from '../../src/server/xmla/discover/rowsets.ts'
import { startXmlaLake } from '../support/xmla-lake.ts'

setDefaultTimeout(120_000)
const page = await Bun.file(new URL('../../docs/xmla.md', import.meta.url)).text()

test('the commands do what the page says', async () => {
  const { lake, ann } = await startXmlaLake()
  const folder = await mkdtemp(join(tmpdir(), 'covenant-xmla-'))
  try {
    const blocks = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block ?? '')
    const script = blocks.join('\n').replaceAll('curl -sS', 'curl -sS --fail-with-body -w "\\n"')
    const shell = Bun.spawn(['bash', '-e', '-c', `${script}\ncat orders.odc`], {
      cwd: folder,
      env: {
        ...process.env,
        BASE: lake.app.url.href.replace(/\/$/, ''),
        SECRET: ann.secret,
        READER: ann.user,
        XMLA: `http://127.0.0.1:${ann.port}`,
      },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const output = await new Response(shell.stdout).text()
    expect(await shell.exited).toBe(0)
    expect(output).toContain('"unique_name":"[orders].[day.Calendar]"')
    expect(output).toContain('<MEASURE_UNIQUE_NAME>[Measures].[buyers]</MEASURE_UNIQUE_NAME>')
    expect(output).toContain('<_x005B_Measures_x005D_._x005B_revenue_x005D_>')
    expect(output).toContain(`Data Source=http://127.0.0.1:${ann.port}/xmla/lake;`)
    expect(output).toContain('<odc:CommandText>sales.orders</odc:CommandText>')
    expect(output).not.toContain(ann.secret)
    expect(output).not.toContain('faultstring')
  } finally {
    await rm(folder, { recursive: true, force: true })
    await lake[Symbol.asyncDispose]()
  }
})

test('the page names every rowset', () => {
  for (const name of rowsetNames) expect(page).toContain(name.replace('MDSCHEMA_', ''))
})
