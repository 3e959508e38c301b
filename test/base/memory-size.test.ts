import { describe, expect, test } from 'bun:test'
import { memorySize } from '../../src/base/memory-size.ts'

const MiB = 1024 * 1024
const machine = 64 * 1024 * MiB
const GiB = String(1024 * MiB)
const none = '9223372036854771712'

type Files = Readonly<Record<string, string>>
const sizeWith = (files: Files) => memorySize((path) => files[path], machine)

describe('memory of a process', () => {
  const groups: [name: string, files: Files, bytes: number][] = [
    [
      'a container, version 2',
      { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/memory.max': `${GiB}\n` },
      1024 * MiB,
    ],
    [
      'a group below others, version 2: the least of all limits',
      {
        '/proc/self/cgroup': '0::/kubepods.slice/pod1/c1\n',
        '/sys/fs/cgroup/kubepods.slice/pod1/c1/memory.max': 'max\n',
        '/sys/fs/cgroup/kubepods.slice/pod1/memory.max': `${GiB}\n`,
        '/sys/fs/cgroup/kubepods.slice/memory.max': `${8 * 1024 * MiB}\n`,
      },
      1024 * MiB,
    ],
    [
      'a group that is slowed down before it is ended, version 2',
      {
        '/proc/self/cgroup': '0::/one\n',
        '/sys/fs/cgroup/one/memory.max': `${GiB}\n`,
        '/sys/fs/cgroup/one/memory.high': String(768 * MiB),
      },
      768 * MiB,
    ],
    [
      'a group, version 1',
      {
        '/proc/self/cgroup': '5:cpu,cpuacct:/x\n4:memory:/docker/abc\n0::/\n',
        '/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes': `${GiB}\n`,
        '/sys/fs/cgroup/memory/memory.limit_in_bytes': `${none}\n`,
      },
      1024 * MiB,
    ],
    [
      'a container that sees its group at the root under the path of its host, version 1',
      {
        '/proc/self/cgroup': '4:memory:/docker/abc\n',
        '/sys/fs/cgroup/memory/memory.limit_in_bytes': `${GiB}\n`,
      },
      1024 * MiB,
    ],
    [
      'a group above the root of its namespace, version 2',
      { '/proc/self/cgroup': '0::/../../other\n', '/sys/fs/cgroup/memory.max': GiB },
      1024 * MiB,
    ],
    [
      'a group without a limit, version 1',
      { '/proc/self/cgroup': '4:memory:/\n', '/sys/fs/cgroup/memory/memory.limit_in_bytes': none },
      machine,
    ],
    [
      'a limit that is no number',
      { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/memory.max': '' },
      machine,
    ],
    ['no control groups', {}, machine],
  ]
  test.each(groups)('is the limit that holds for it: %s', (_, files, bytes) => {
    expect(sizeWith(files)).toBe(bytes)
  })

  test('is found on this machine', () => {
    expect(memorySize()).toBeGreaterThan(64 * MiB)
  })
})
