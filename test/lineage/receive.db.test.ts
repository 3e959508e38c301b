/** The receiver and the cycle check on a server: the same tests as on the embedded database. */

// Skipped where SVC_TEST_DATABASE_URL names no server: `bun test` runs both files by themselves.
if (process.env.SVC_TEST_DATABASE_URL !== undefined) {
  await import('./receive.test.ts')
  await import('./cycle-check.test.ts')
}

export {}
