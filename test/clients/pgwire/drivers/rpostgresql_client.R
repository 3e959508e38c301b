# R: RPostgreSQL, whose protocol is libpq's simple one and its parameters text. One line of JSON a step, tables as R prints them.

suppressMessages(library(RPostgreSQL))

quoted <- function(text) {
  text <- gsub('\\', '\\\\', text, fixed = TRUE)
  text <- gsub('"', '\\"', text, fixed = TRUE)
  paste0('"', gsub('\t', '\\t', text, fixed = TRUE), '"')
}

step <- function(name, action) {
  # The driver tells of errors in words alone.
  value <- tryCatch({
    value <- action()
    if (is.data.frame(value)) value <- c(sapply(value, function(column) class(column)[1]), value)
    capture.output(print(value, digits = 15))
  }, error = function(error) sub('.*(ERROR: [^\n]*).*', '\\1', conditionMessage(error)))
  cat(sprintf('{"step":%s,"value":[%s]}\n', quoted(name), paste(quoted(value), collapse = ',')))
}

e <- Sys.getenv
options(width = 200)
con <- dbConnect(PostgreSQL(), host = e('PGHOST'), port = as.integer(e('PGPORT')), user = e('PGUSER'),
  password = e('PGPASSWORD'), dbname = e('PGDATABASE'))

step('r tables', function() sort(dbListTables(con)))
step('r exists', function() c(dbExistsTable(con, c('sales', 'orders')), dbExistsTable(con, c('sales', 'nothing'))))
step('r fields', function() dbListFields(con, c('sales', 'orders')))
step('r read table', function() {
  regions <- dbReadTable(con, c('sales', 'regions'))
  regions[order(regions$name), ]
})
step('r read orders', function() {
  orders <- dbReadTable(con, c('sales', 'orders'))
  c(dim(orders), sum(orders$amount), head(sort(orders$email), 3), sort(unique(orders$region)))
})
step('r types', function() dbGetQuery(con, 'SELECT id, region, email, amount, qty, ratio, paid, day, created, note FROM sales.orders ORDER BY id LIMIT 10'))
step('r groups', function() dbGetQuery(con, 'SELECT region, count(*) AS n, sum(amount) AS total FROM sales.orders GROUP BY 1 ORDER BY 1'))
step('r parameters', function() dbGetQuery(con, 'SELECT id, email FROM sales.orders WHERE region = $1 AND qty > $2 ORDER BY id LIMIT 5', c('east', '10')))
step('r months', function() dbGetQuery(con, "SELECT to_char(date_trunc('month', day), 'YYYY-MM') AS month, count(*) AS n FROM sales.orders GROUP BY 1 ORDER BY 1"))
step('r columns', function() {
  result <- dbSendQuery(con, 'SELECT id, region, amount, ratio, paid, day, placed_at, created, uid, payload FROM sales.orders')
  info <- dbColumnInfo(result)
  dbClearResult(result)
  info
})
step('r in parts', function() {
  result <- dbSendQuery(con, 'SELECT id FROM sales.orders ORDER BY id')
  sizes <- c()
  while (!dbHasCompleted(result)) sizes <- c(sizes, nrow(fetch(result, n = 300)))
  dbClearResult(result)
  sizes
})
step('r transaction', function() {
  dbBegin(con)
  found <- dbGetQuery(con, 'SELECT count(*) AS n FROM sales.orders')
  dbCommit(con)
  found
})
step('r no table', function() {
  result <- tryCatch(dbGetQuery(con, 'SELECT * FROM sales.nothing'), warning = function(warning) 'a warning')
  if (is.null(result)) 'nothing' else result
})
step('r goes on', function() dbGetQuery(con, 'SELECT 1 AS one'))
step('r info', function() dbGetInfo(con)[c('user', 'dbname')]$user == e('PGUSER'))
invisible(dbDisconnect(con))
