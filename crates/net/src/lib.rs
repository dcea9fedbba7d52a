//! HTTP/1.1 client and server on tokio sockets: deadlines by kernel receive timestamps, TLS, an egress policy against SSRF,
//! limits on what peers may send. Knows nothing of leagues.
//!
//! # Layout
//! - [`transport`]: the traits for listeners, dialers and connections; tests put a simulated network behind them
//! - [`socket`]: a TCP socket that reads bytes together with the kernel's receive timestamp
//! - [`rx_time`]: when the bytes of a message were received; `io_hook`: the wrapper that observes reads and writes
//! - [`server`]: the accept loop; `head_timeout`, `write_timeout`, [`connection_limit`]: its limits; `linger`: the end of a connection; `answer_body`, [`body`],
//!   [`response`]: of its handlers
//! - [`trusted_proxies`], `proxy_protocol`: whose requests a reverse proxy passes on; [`ip_network`]: addresses in CIDR notation
//! - [`origin_check`]: which `Host` and `Origin` headers are accepted (DNS rebinding, cross-site requests)
//! - [`call`]: request, response, error and timings of one call; [`client`]: makes it, by a deadline; `call_deadline`,
//! - [`forward`]: passes a request on to another server, and its response back piece by piece
//! - [`streaming`]: responses that are read piece by piece; [`proxy`]: HTTP proxies on the way out
//! - [`egress`]: which addresses the client may connect to: policy, classes of IP addresses, pinned DNS
//! - [`tls`]: certificates for both sides
//! - `ref_counts`: counts behind the limits; [`address_quota`]: a limit per address for what lasts; [`rate_limit`]: for requests

pub mod address_quota;
mod answer_body;
pub mod bearer;
pub mod body;
pub mod call;
mod call_deadline;
pub mod client;
mod connect_error;
pub mod connection_limit;
pub mod cors;
pub mod egress;
pub mod forward;
mod head_timeout;
mod io_hook;
pub mod ip_network;
mod linger;
pub mod origin_check;
mod parsed_url;
pub mod percent;
mod pool;
pub mod proxy;
mod proxy_protocol;
pub mod rate_limit;
mod ref_counts;
pub mod response;
pub mod rx_time;
pub mod server;
pub mod socket;
pub mod streaming;
pub mod tls;
pub mod transport;
pub mod trusted_proxies;
mod write_timeout;
