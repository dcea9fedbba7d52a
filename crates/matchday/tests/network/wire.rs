//! The simulated network, as the program's own code for HTTP uses it.

use matchday_net::transport::{Connection, DialFuture, Dialer, Listener};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use turmoil::net::{TcpListener, TcpStream};

#[derive(Debug)]
pub(crate) struct SimDialer;

impl Dialer for SimDialer {
    fn dial<'a>(&'a self, host: &'a str, port: u16) -> DialFuture<'a> {
        Box::pin(async move {
            Ok(Box::new(TcpStream::connect((host, port)).await?) as Box<dyn Connection>)
        })
    }
}

pub(crate) struct Port(TcpListener);

impl Port {
    pub(crate) async fn open(port: u16) -> io::Result<Self> {
        TcpListener::bind((Ipv4Addr::UNSPECIFIED, port))
            .await
            .map(Self)
    }
}

impl Listener for Port {
    type Connection = TcpStream;

    async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        self.0.accept().await
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}
