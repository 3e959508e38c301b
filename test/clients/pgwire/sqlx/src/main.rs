use sqlx::{Connection, PgConnection};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), sqlx::Error> {
    let mut on = PgConnection::connect(&std::env::var("DATABASE_URL").unwrap()).await?;
    let found = sqlx::query!(
        "SELECT o.id, o.region, r.name AS other FROM sales.orders o LEFT JOIN sales.regions r ON r.name = o.region || $1 WHERE o.id = $2",
        "x",
        7i64
    )
    .fetch_one(&mut on)
    .await?;
    let id: i64 = found.id;
    let other: Option<String> = found.other;
    println!("{} {:?} {:?}", id, found.region, other);
    Ok(())
}
