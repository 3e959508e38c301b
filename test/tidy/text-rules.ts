/** What the text of a file must not hold. Each rule says what to do instead and proves itself on an example. */

import type { SourceFile } from './source-files.ts'

export interface TextRule {
  readonly name: string
  /** Paths that the rule is for. */
  readonly where: RegExp
  readonly except?: RegExp
  /** Global, so that every place is reported. */
  readonly banned: RegExp
  readonly instead: string
  /** Text that the rule must refuse. */
  readonly example: string
  /** Close to it, and fine. */
  readonly counterexample: string
}

const linesMax = 400

export const textRules: readonly TextRule[] = [
  {
    name: 'default export',
    where: /\.ts$/,
    banned: /^export default\b/gm,
    instead: 'export it by name',
    example: 'export default function run() {}',
    counterexample: 'export function run() {}',
  },
  {
    name: 'barrel',
    where: /^src\/.*\.ts$/,
    banned: /^export (?:type )?(?:\*|\{)[^'"]*\bfrom /gm,
    instead: 'import from the file that owns it',
    example: "export { a } from './a.ts'",
    counterexample: 'export const from = 1',
  },
  {
    name: 'exported function without a docstring',
    where: /^src\/.*\.ts$/,
    // The line before must end a comment, or be an overload of the same function.
    banned:
      /(?<!\*\/\n)(?<!^export (?:async )?function[^\n{]*\n)^export (?:(?:async )?function\*? ?(\w+)|const (\w+)[^=\n]* = (?:async )?(?:<[^\n]*>)?\([^\n]*=>)/gm,
    instead: 'say in /** … */ what its arguments and result mean, units, errors thrown, the source',
    example: 'const a = 1\n\nexport function run() {}',
    counterexample: '/** Runs. */\nexport function run(): void\nexport function run(n?: number): void {}',
  },
  {
    name: 'socket outside server',
    where: /^src\/.*\.ts$/,
    except: /^src\/server\//,
    banned: /\b(?:Bun\.(?:listen|serve|connect|udpSocket)|createServer|createConnection)\(/g,
    instead: 'sockets belong in src/server; work on bytes here',
    example: 'Bun.listen({})',
    counterexample: 'server.listen()',
  },
  {
    name: 'Math.random',
    where: /^src\/.*\.ts$/,
    banned: /\bMath\.random\b/g,
    instead: 'crypto.randomUUID or crypto.getRandomValues',
    example: 'const id = Math.random()',
    counterexample: 'const id = crypto.randomUUID()',
  },
  {
    name: 'console in the service',
    where: /^src\/.*\.ts$/,
    except: /^src\/main\.ts$/,
    banned: /\bconsole\.\w+\(/g,
    instead: 'take a logger (telemetry/log.ts) as an argument: console redacts nothing',
    example: "console.log('x')",
    counterexample: "logger.info('x')",
  },
  {
    name: 'environment read outside config',
    where: /^src\/.*\.ts$/,
    except: /^src\/(?:config|main)\.ts$/,
    banned: /\b(?:process|Bun)\.env\b/g,
    instead: 'add the variable to config.ts and take its value as an argument',
    example: 'process.env.SVC_X',
    counterexample: 'config.listen',
  },
  {
    name: 'SQL quoted by hand',
    where: /^src\/.*\.ts$/,
    except: /^src\/base\/sql-text\.ts$/,
    banned: /\.replace(?:All)?\((?:"'"|\/'\/g), /g,
    instead: 'quoteText of base/sql-text.ts',
    example: `const sql = "'" + text.replaceAll("'", "''") + "'"`,
    counterexample: `const sql = quoteText(text)`,
  },
  {
    name: 'skipped test without a reason',
    where: /\.test\.ts$/,
    banned:
      /(?<!\/\/ Skipped [^\n]*\n)^[^\n]*\b(?:test|it|describe)\.(?:skip|skipIf|todo|if)\((?![^\n]*['"`][^\n]*: )/gm,
    instead: "name it 'reason: what is not tested', or say why on the line before (// Skipped where …)",
    example: "test.skip('reads', () => {})",
    counterexample: "test.skip('no server here: reads', () => {})",
  },
  {
    name: 'focused test',
    where: /\.test\.ts$/,
    banned: /^\s*(?:test|it|describe)\.only\(/gm,
    instead: 'run one test with `-t`',
    example: "test.only('reads', () => {})",
    counterexample: "test('reads', () => {})",
  },
  {
    name: 'absolute path of one machine',
    where: /./,
    banned: /(?<![\w.*)}\]-])\/(?:work|home|root|Users)\//g,
    instead: 'a path relative to the file, or os.tmpdir()',
    example: ['', 'home', 'someone'].join('/'),
    counterexample: 's3://bucket/home/x',
  },
  {
    name: 'fixed temporary path',
    where: /./,
    except: /^test\//,
    banned: /(?<![\w.*)}\]-])\/tmp\//g,
    instead: 'mktemp -d, or mkdtemp under os.tmpdir()',
    example: ['', 'tmp', 'x'].join('/'),
    counterexample: 'a/tmp/x',
  },
  {
    name: 'citation of a document that is not in the repository',
    where: /^(?:src|test|bench|demo)\/.*\.ts$/,
    banned: /\b(?:S[P]EC|D[E]SIGN)\b/g,
    instead: 'cite a page of docs/reference and the number of its heading',
    example: `// The order of ${['SP', 'EC'].join('')} 4.1.`,
    counterexample: '// The order of docs/reference/gateway.md 2.1.',
  },
  {
    name: 'phrase that only its author understands',
    where: /^(?:docs\/.*|README|ARCHITECTURE|CONTRIBUTING)\.md$/,
    except: /^docs\/reference\/glossary\.md$/,
    // Outside of code spans, which quote names.
    banned:
      /(?<=^(?:[^`\n]*`[^`\n]*`)*[^`\n]*)\b(?:anew|in vain|who(?:m)?ever|counts? no more|what of it|(?:is|are) told of|heeds?|as it (?:came|was)|aloud|mend|thereof)\b/gim,
    instead: 'the word of docs/reference/glossary.md 4, or name the person, the thing and the act',
    example: 'The policies are loaded anew.',
    counterexample: 'The test `whoever reads` shows it.',
  },
  {
    name: 'phrase that only its author understands, in code',
    where: /^(?:src|test|bench|demo|scripts)\/.*\.ts$/,
    except: /^test\/tidy\//,
    banned:
      /\b(?:anew|in vain|who(?:m)?ever|counts? no more|what of it|(?:is|are) told of|as it (?:came|was)|aloud|mend|thereof)\b/gi,
    instead: 'the word of docs/reference/glossary.md 4, or name the person, the thing and the act',
    example: '// The policies are loaded anew.',
    counterexample: '// The policies are loaded again.',
  },
  {
    name: 'host of a package registry',
    where: /./,
    except: /^bun\.lock$/,
    banned:
      /\b(?:registry\.(?:npm|yarn)\w+|repo\d?\.maven|(?:pypi|pythonhosted)\.org|(?:deb|ftp)\.debian)\b/g,
    instead: 'the package client knows its registry; name the package',
    example: ['deb', 'debian.org'].join('.'),
    counterexample: 'postgresql.debian',
  },
]

/** Every place in `files` that a rule refuses, as sentences with path and line. */
export function findBannedText(files: readonly SourceFile[], rules = textRules): string[] {
  return files.flatMap(({ path, text }) =>
    rules
      .filter(({ where, except }) => where.test(path) && !except?.test(path))
      .flatMap(({ name, banned, instead }) =>
        [...text.matchAll(banned)].map(
          ({ index }) => `${path}:${text.slice(0, index).split('\n').length}: ${name}; instead: ${instead}`,
        ),
      ),
  )
}

/** Source files that have grown too long to have one reason to change. */
export function findLongFiles(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) => {
    const lines = text.split('\n').length - 1
    return lines > linesMax
      ? [`${path}: ${lines} lines, at most ${linesMax}; instead: split it by reason to change`]
      : []
  })
}

/** Source files that do not begin by saying what they own. */
export function findMissingHeaders(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) =>
    /^(?:#![^\n]*\n)?\/\*\*/.test(text)
      ? []
      : [`${path}: no header; instead: begin with /** … */, 1 to 5 lines: what this file owns`],
  )
}
