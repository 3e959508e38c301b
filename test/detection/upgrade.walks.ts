/** The step to one finding of a column and class, on the embedded store with findings of an earlier version. */

import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { embeddedBackend } from '../../src/store/database/embedded.ts'
import { migrate } from '../../src/store/database/migrations.ts'
import { migrationCopies } from '../support/migration-files.ts'

setDefaultTimeout(300_000)

const folder = mkdtempSync(join(tmpdir(), 'covenant-evidence-'))
const files = migrationCopies()
afterAll(() => {
  files[Symbol.dispose]()
  rmSync(folder, { recursive: true, force: true })
})

test('findings of a column and class become one, with their runs, and their decision stands', async () => {
  const before = files.copy()
  rmSync(new URL('control/1750_detection_evidence.sql', before))
  const engine = await embeddedBackend({ dataDirectory: join(folder, 'database'), statementMs: 300_000 })
  const { sql, close } = await engine.open('connecting')
  await migrate(sql, 'apply', () => {}, before)
  const [home, foreign] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222']
  for (const tenant of [home, foreign]) {
    await sql.unsafe(`insert into svc.tenant (tenant_id, name) values ('${tenant}', 'x')`)
    await sql
      .unsafe(`
      begin; set local role svc_tenant; set local app.tenant_id = '${tenant}';
      insert into svc.detection_run (tenant_id, run_id, snapshot_metadata_location, source, state, report)
        select '${tenant}', ('00000000-0000-4000-8000-00000000000' || n)::uuid, 's3://lake/' || n, 'baseline-poller', 'done',
          jsonb_build_object('snapshotIds', jsonb_build_array(n::text)) from generate_series(1, 3) n;
      insert into svc.detection_finding (tenant_id, finding_id, run_id, attempt, classification_id, column_name, path, class, shape,
          confidence, matched, sampled, found_at)
        select '${tenant}', ('10000000-0000-4000-8000-00000000000' || n)::uuid, ('00000000-0000-4000-8000-00000000000' || n)::uuid, 1,
          'u' || chr(31) || '2' || chr(31) || chr(31) || 'email', 'email', 'email', 'email',
          case n when 2 then 'name_and_value' else 'name' end, case n when 2 then 0.92 else 0.65 end, n - 1, n - 1,
          timestamptz '2026-01-01' + n * interval '1 day' from generate_series(1, 3) n;
      insert into svc.detection_decision (tenant_id, classification_id, finding_id, decision, reason, decided_by)
        values ('${tenant}', 'u' || chr(31) || '2' || chr(31) || chr(31) || 'email',
          '10000000-0000-4000-8000-000000000001', 'confirm', '', 'sam');
      commit`)
      .simple()
  }
  await migrate(sql, 'apply', () => {})
  const found =
    await sql.unsafe(`select tenant_id, finding_id, status, confidence::float8 as confidence, shape,
    first_found_at = timestamptz '2026-01-02' as is_first from svc.detection_finding order by tenant_id`)
  const id = '10000000-0000-4000-8000-000000000003'
  const kept = {
    finding_id: id,
    status: 'confirmed',
    confidence: 0.92,
    shape: 'name_and_value',
    is_first: true,
  }
  expect(JSON.parse(JSON.stringify(found))).toEqual([
    { tenant_id: home, ...kept },
    { tenant_id: foreign, ...kept },
  ])
  const evidence =
    await sql.unsafe(`select evidence_id, owner, seen, holds, to_jsonb(snapshot_ids) as snapshot_ids from svc.detection_evidence
    where tenant_id = '${home}' order by found_at`)
  expect(JSON.parse(JSON.stringify(evidence))).toEqual(
    [1, 2, 3].map((n) => ({
      ...{ evidence_id: `10000000-0000-4000-8000-00000000000${n}`, owner: 'u', seen: n > 1 },
      ...{ holds: true, snapshot_ids: [String(n)] },
    })),
  )
  await close()
  await engine.close()
})

test('a tag that was drawn for a classification is that of its column, and falls with it', async () => {
  const before = files.copy()
  rmSync(new URL('tenant/1760_tags_of_columns.sql', before))
  const engine = await embeddedBackend({ dataDirectory: join(folder, 'tags'), statementMs: 300_000 })
  const { sql, close } = await engine.open('connecting')
  await migrate(sql, 'apply', () => {}, before)
  const [home, foreign] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222']
  const inTenant = (tenant: string, text: string) =>
    sql.unsafe(`begin; select svc.enter('${tenant}'); set local role svc_tenant; ${text}; commit`).simple()
  for (const tenant of [home, foreign])
    await sql.unsafe(`insert into svc.tenant (tenant_id, name) values ('${tenant}', 'x')`)
  await migrate(sql, 'apply', () => {}, before)
  for (const tenant of [home, foreign])
    await inTenant(
      tenant,
      `insert into svc.detection_run (tenant_id, run_id, snapshot_metadata_location, source, state, report, table_id, namespace, table_name)
         values ('${tenant}', '00000000-0000-4000-8000-000000000001', 's3://lake/1', 'baseline-poller', 'done', '{}', 't', '[]', 't');
       insert into svc.detection_finding (tenant_id, run_id, attempt, classification_id, column_name, path, class, shape, confidence,
           matched, sampled, field_id, column_id)
         values ('${tenant}', '00000000-0000-4000-8000-000000000001', 1, 'c', 'id', 'id', 'email', 'name', 0.65, 0, 0, 1, 't' || chr(31) || '1');
       select svc.ensure_edge(label, 'c', svc.ensure_node('Column', 't' || chr(31) || '1', '{"table_id": "t"}'),
         svc.ensure_node(node, id, '{}'), '{"status": "open"}')
       from (values ('TAGGED', 'Tag', 'sensitive.email'), ('CLASSIFIED_AS', 'Classification', 'c')) drawn (label, node, id)`,
    )
  await migrate(sql, 'apply', () => {})
  await inTenant(
    home,
    `select svc.project_classification('c');
     update svc.detection_finding set status = 'withdrawn'; select svc.project_classification('c')`,
  )
  const edges = async (tenant: string) =>
    (await sql.unsafe(
      `select (select count(*)::int from "g_${tenant.replaceAll('-', '_')}"."TAGGED"
         where properties::text like '%"status"%') as n`,
    )) as unknown
  expect([await edges(home), await edges(foreign)]).toEqual([[{ n: 0 }], [{ n: 1 }]])
  await close()
  await engine.close()
})
