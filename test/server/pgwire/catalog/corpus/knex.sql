-- tool: Knex: schema
select * from information_schema.tables where table_name = $1 and table_schema = $2
;
select * from information_schema.columns where table_name = $1 and column_name = $2 and table_schema = $3
;
select * from information_schema.columns where table_name = $1 and table_catalog = current_database() and table_schema = $2
;
select * from information_schema.columns where table_name = $1 and table_catalog = current_database() and table_schema = current_schema()
;
select * from information_schema.tables where table_name = $1 and table_schema = current_schema()
;
