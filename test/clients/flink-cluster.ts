/** Starts a Flink session cluster of one job manager and one task manager, and its SQL client. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Glob } from 'bun'
import { freePort } from '../support/free-port.ts'
import { java, packageFolder } from './packages.ts'
import { runClient, startServer } from './processes.ts'

export interface FlinkCluster extends AsyncDisposable {
  /** Runs a script of SQL, which ends at the first statement that fails. @returns what the user sees */
  sql(log: string, script: string): Promise<string>
}

/** @throws Error with the end of the log of what does not start */
export async function startFlink(): Promise<FlinkCluster> {
  const stack = new AsyncDisposableStack()
  try {
    const home = await mkdtemp(join(tmpdir(), 'covenant-flink-'))
    stack.defer(() => rm(home, { recursive: true, force: true }))
    const rest = freePort()
    await Bun.write(join(home, 'config.yaml'), configuration(rest))
    const env = { FLINK_CONF_DIR: home }
    const ready = `http://127.0.0.1:${rest}/overview`
    const runtime = 'org.apache.flink.runtime'
    for (const [name, main] of [
      ['job-manager', `${runtime}.entrypoint.StandaloneSessionClusterEntrypoint`],
      ['task-manager', `${runtime}.taskexecutor.TaskManagerRunner`],
    ] as const)
      stack.use(await startServer(`flink-${name}`, [...jvm(600), main, '--configDir', home], ready, { env }))
    return {
      async sql(log, script) {
        const file = join(home, `${log}.sql`)
        await Bun.write(file, script)
        const client = ['org.apache.flink.table.client.SqlClient', 'embedded']
        const options = ['-hist', join(home, 'history'), '-f', file]
        const command = [...jvm(500), ...client, ...options]
        return (await runClient(`flink-${log}`, command, { env, seconds: 90 })).output
      },
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    }
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}

/** Sizes that Flink's start scripts would compute are given, because nothing but `java` is run. */
function configuration(restPort: number): string {
  const settings = {
    'execution.target': 'remote',
    'execution.runtime-mode': 'batch',
    'restart-strategy.type': 'none',
    'parallelism.default': 1,
    'jobmanager.rpc.address': '127.0.0.1',
    'jobmanager.rpc.port': freePort(),
    'jobmanager.bind-host': '127.0.0.1',
    'taskmanager.host': '127.0.0.1',
    'taskmanager.bind-host': '127.0.0.1',
    'taskmanager.resource-id': 'one',
    'taskmanager.numberOfTaskSlots': 2,
    'taskmanager.cpu.cores': 1,
    'taskmanager.memory.task.heap.size': '256m',
    'taskmanager.memory.task.off-heap.size': '0m',
    'taskmanager.memory.network.min': '64m',
    'taskmanager.memory.network.max': '64m',
    'taskmanager.memory.managed.size': '64m',
    'taskmanager.memory.framework.heap.size': '128m',
    'taskmanager.memory.framework.off-heap.size': '128m',
    'taskmanager.memory.jvm-metaspace.size': '256m',
    'taskmanager.memory.jvm-overhead.min': '192m',
    'taskmanager.memory.jvm-overhead.max': '192m',
    'rest.address': '127.0.0.1',
    'rest.bind-address': '127.0.0.1',
    'rest.port': restPort,
    'classloader.check-leaked-classloader': false,
  }
  return Object.entries(settings)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('')
}

function jvm(heapMegabytes: number): readonly string[] {
  const open = ['util', 'lang'].map((name) => `--add-opens=java.base/java.${name}=ALL-UNNAMED`)
  return [java(), `-Xmx${heapMegabytes}m`, '-XX:TieredStopAtLevel=1', ...open, '-cp', classPath()]
}

function classPath(): string {
  const folder = packageFolder('python:flink')
  const [found] = new Glob('lib/python*/site-packages/pyflink').scanSync({ cwd: folder, onlyFiles: false })
  if (found === undefined) throw new Error('the pinned Flink is not there: run `bun run test:clients`')
  const hadoop = join(packageFolder('maven:iceberg-rest'), 'lib')
  return [
    join(folder, found, 'lib/*'),
    join(folder, found, 'opt/*'),
    join(packageFolder('maven:iceberg-flink'), 'lib/*'),
    join(hadoop, 'hadoop-client-api-3.4.3.jar'),
    join(hadoop, 'hadoop-client-runtime-3.4.3.jar'),
  ].join(':')
}
