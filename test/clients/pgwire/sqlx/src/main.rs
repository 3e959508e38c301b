use sqlx::{Connection, PgConnection};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), sqlx::Error> {
    let mut on = PgConnection::connect(&std::env::var("DATABASE_URL").unwrap()).await?;
    let found = sqlx::query!(
        "SELECT o.id, o.region, o.email, r.name AS other FROM sales.orders o LEFT JOIN sales.regions r ON r.name = o.region || $1 WHERE o.id = $2",
        "x",
        7i64
    )
    .fetch_one(&mut on)
    .await?;
    let id: i64 = found.id;
    let other: Option<String> = found.other;
    println!("{} {:?} {:?} {:?}", id, found.region, found.email, other);
    let regions = ["north".to_string(), "east".to_string()];
    let count: Option<i64> = sqlx::query_scalar!("SELECT count(*) FROM sales.orders WHERE region = ANY($1)", &regions)
        .fetch_one(&mut on)
        .await?;
    let paid = sqlx::query!(
        r#"SELECT id AS "id!", paid AS "paid!", ratio, qty FROM sales.orders WHERE note LIKE $1 AND paid = $2 ORDER BY id LIMIT $3"#,
        "note 1%",
        true,
        2i64
    )
    .fetch_all(&mut on)
    .await?;
    let rows: Vec<(i64, bool, Option<f64>, Option<i32>)> = paid.iter().map(|row| (row.id, row.paid, row.ratio, row.qty)).collect();
    println!("{:?} {:?}", count, rows);
    Ok(())
}
