"""What both servers share: server, interceptors, status, shared codecs, paging."""
